"""Identifiers and strings as text that both the language and Spark read back."""

from __future__ import annotations

import re

from ..syntax.lalr import RESERVED

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = re.compile(r"[\\'\0\b\n\r\t\x1a]")
_ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    "\0": "\\0",
    "\b": "\\b",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\x1a": "\\Z",
}
TYPE_WORDS = frozenset(("ARRAY", "MAP", "STRUCT"))
"""Bare words after which Spark reads ``>>`` as the end of two types."""

# These are names only if the following token says so; too easily misread without backticks.
_QUOTED = (RESERVED | TYPE_WORDS).union(
    "ILIKE REGEXP INTERVAL DIV END EXISTS CAST TRY_CAST EXTRACT".split()
)


def identifier(name: str, besides: frozenset[str] = frozenset()) -> str:
    """Return a name, in backticks if it needs them or is one of some further words."""
    if _BARE.fullmatch(name) and name.upper() not in _QUOTED and name.upper() not in besides:
        return name
    return "`" + name.replace("`", "``") + "`"


def string(value: str) -> str:
    """Return a string literal in single quotes with Spark's escapes."""
    return "'" + _SPECIAL.sub(lambda match: _ESCAPES[match[0]], value) + "'"
