"""Names of variables in a script that are not in the spec."""

from __future__ import annotations


def unfiltered(source: str) -> str:
    """Return the name of a source's rows before those in the future are filtered out."""
    return f"{source}__all"
