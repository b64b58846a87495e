"""``${env:NAME}`` and ``${file:PATH}``: secrets by reference, resolved at run time.

A spec, its plan and its script contain the reference; the value is in the environment or in a file
of the machine that runs the job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

KINDS = ("env", "file")
REFERENCE = re.compile(r"\$\{(env|file):([^{}]*)\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an environment variable."""

_FILE = re.compile(r"[^'\"\\\x00-\x1f\x7f{}]+")
_MOST = 1 << 20
"""The largest file that is read as a secret, in bytes: keys have thousands."""


class UnresolvedReference(Exception):
    """A reference without a value: the text says why, ``help`` how to provide one."""

    def __init__(self, message: str, help_: str) -> None:
        super().__init__(message)
        self.help = help_


def malformed(kind: str, name: str) -> str | None:
    """Return what is wrong with the parts of a reference, None if it can be resolved."""
    if kind == "env" and not NAME.fullmatch(name):
        return f"`{name}` cannot name a variable of the environment"
    if kind == "file" and not name.strip():
        return "`${file:}` names no file"
    if kind == "file" and not _FILE.fullmatch(name):
        return "the path in `${file:…}` holds a quote, a backslash or a control character"
    return None


def fill(
    text: str, environment: Mapping[str, str], found: Callable[[str], None] = lambda value: None
) -> str:
    """Return a text with the values of its references, each of which is passed to ``found``.

    References within a value are not resolved. Raises ``UnresolvedReference``.

    >>> fill("postgresql://u:${env:DB}@h", {"DB": "x${env:DB}"})
    'postgresql://u:x${env:DB}@h'
    """

    def value(match: re.Match[str]) -> str:
        text = resolved(match[1], match[2], environment)
        found(text)
        return text

    return REFERENCE.sub(value, text)


def resolved(kind: str, name: str, environment: Mapping[str, str]) -> str:
    """Return the value of one reference; raises ``UnresolvedReference``."""
    if (wrong := malformed(kind, name)) is not None:
        raise UnresolvedReference(
            wrong, f"write `${{{kind}:{'NAME' if kind == 'env' else 'PATH'}}}`"
        )
    if kind == "file":
        return _content(name)
    if name not in environment:
        raise UnresolvedReference(
            f"the environment has no `{name}`, which `${{env:{name}}}` asks for",
            f"set it where the job runs: `export {name}=…`",
        )
    return environment[name]


def _content(path: str) -> str:
    """Return the content of a file, without the line break that an editor leaves at its end."""
    asked = f"`${{file:{path}}}`"
    try:
        with open(path, "rb") as file:
            held = file.read(_MOST + 1)
        if len(held) > _MOST:
            raise UnresolvedReference(
                f"the file of {asked} has more than a megabyte", "name the file of the secret"
            )
        text = held.decode("utf-8")
    except OSError as error:
        raise UnresolvedReference(
            f"{asked} cannot be read: {error.strerror}",
            "name a file that the user of the job can read",
        ) from None
    except UnicodeDecodeError:
        raise UnresolvedReference(
            f"the file of {asked} is not text in UTF-8", "write the secret as text"
        ) from None
    return text.removesuffix("\n").removesuffix("\r")
