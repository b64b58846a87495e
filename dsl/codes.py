"""The registry of diagnostics: one line a code, a number is never used again.

SC01xx syntax, SC02xx names, SC03xx types, SC04xx time and state, SC05xx what a connector or Spark cannot
do, SC06xx settings (front matter, options), SC08xx what streamc does not build yet, SC09xx internal.
"""

from __future__ import annotations

from .diagnostics import Code, Severity

_REGISTRY: dict[str, Code] = {}


def _error(number: str, slug: str, summary: str, since: str = "0.1.0") -> Code:
    return _register(Code(number, slug, Severity.ERROR, summary, since))


def _warning(number: str, slug: str, summary: str, since: str = "0.1.0") -> Code:
    return _register(Code(number, slug, Severity.WARNING, summary, since))


def _register(code: Code) -> Code:
    if code.number in _REGISTRY:
        raise ValueError(f"{code.number} is taken by {_REGISTRY[code.number].slug}")
    _REGISTRY[code.number] = code
    return code


def all_codes() -> tuple[Code, ...]:
    """Return every code in the order of its number."""
    return tuple(_REGISTRY[number] for number in sorted(_REGISTRY))


# Syntax.
SYNTAX = _error("SC0101", "syntax", "the text is not what the grammar expects here")

# Names.
UNKNOWN_NAME = _error("SC0201", "unknown-name", "a relation is used that nothing declares")
DUPLICATE_NAME = _error("SC0202", "duplicate-name", "a name is declared more than once")
UNKNOWN_COLUMN = _error("SC0203", "unknown-column", "a column is used that its relation lacks")
AMBIGUOUS_COLUMN = _error("SC0204", "ambiguous-column", "a column is in both sides of a join")
CYCLE = _error("SC0205", "cycle", "streams read each other in a circle")
RESERVED_NAME = _error("SC0206", "reserved-name", "a name cannot be an id")
DUPLICATE_COLUMN = _error("SC0207", "duplicate-column", "two columns of a relation share a name")
UNNAMED_COLUMN = _error("SC0208", "unnamed-column", "an expression has no column name")

# Types.

# Time and state.

# Connectors and Spark's limits.

# Settings.

# Not built yet.
NOT_BUILT = _error("SC0801", "not-built", "the language has it, this version does not run it yet")

# Internal.
