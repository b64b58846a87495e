"""Python literals, and texts whose ``${name}`` is filled in when the script runs."""

from __future__ import annotations

import re

_VARIABLE = re.compile(r"\$\{(?:(env|file):)?([^{}]+)\}")
"""A variable or a reference; the resolver has refused everything else."""

_ESCAPES = {
    **{code: f"\\x{code:02x}" for code in (*range(32), 127)},
    **str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}),
}


def quoted(text: str) -> str:
    """Return a Python string literal in double quotes, or in single ones if that spares escapes."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{_escaped(text, quote)}{quote}"


def template(text: str) -> str:
    """Return the Python expression of an option's text.

    >>> template("data"), template("${input}")
    ('"data"', 'job.var("input")')
    >>> print(template("${out}/spend"), template("${env:DB_PASSWORD}"))
    f"{job.var('out')}/spend" job.env("DB_PASSWORD")
    """
    if _VARIABLE.search(text) is None:
        return quoted(text)
    whole = _VARIABLE.fullmatch(text)
    if whole is not None:
        return f'job.{whole[1] or "var"}("{whole[2]}")'
    parts: list[str] = []
    taken = 0
    for found in _VARIABLE.finditer(text):
        parts.append(_literal_part(text[taken : found.start()]))
        parts.append(f"{{job.{found[1] or 'var'}('{found[2]}')}}")
        taken = found.end()
    parts.append(_literal_part(text[taken:]))
    return f'f"{"".join(parts)}"'


def _literal_part(text: str) -> str:
    return _escaped(text, '"').replace("{", "{{").replace("}", "}}")


def _escaped(text: str, quote: str) -> str:
    escaped = text.translate(_ESCAPES)
    return escaped.replace(quote, f"\\{quote}")
