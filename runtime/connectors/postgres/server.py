"""Whether a text names a server, and what is needed to reach it."""

from __future__ import annotations

from ...base.errors import BAD_OPTION, MODULE_MISSING, RuntimeFault


def check_server(sink: str, server: str) -> None:
    """Raises RuntimeFault for a text that does not name a server.

    libpq's message repeats the part that it could not parse, which may be of the password: it is
    not shown. Nor is a server contacted whose name or port would be half a password.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(server).items()}
    except (ProgrammingError, ValueError):
        parts = {"host": "@"}
    ports = parts.get("port", "").split(",")
    in_url = "//" in server and any("@" in parts.get(name, "") for name in ("host", "dbname"))
    if parts.get("host") == "@" or in_url or not all(p.isdigit() or not p for p in ports):
        raise RuntimeFault(
            BAD_OPTION,
            f"the `url` of sink `{sink}` is neither a PostgreSQL URL nor a list of `name=value`",
            "write `postgresql://user@host:5432/shop` or `host=… dbname=… user=…`, and give the "
            "password as the option `password`; in a URL `%`, `@`, `:` and `/` of a name or "
            "password are `%25`, `%40`, `%3A` and `%2F`",
        )


def require_psycopg(sink: str) -> None:
    """Raises RuntimeFault without psycopg."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise RuntimeFault(
            MODULE_MISSING,
            f"sink `{sink}` needs the Python package psycopg",
            "pip install 'streamc[postgres]'",
        ) from None
