"""Names of variables in a script that are no names of the spec."""

from __future__ import annotations


def unfiltered(source: str) -> str:
    """Return the name of a source's rows before those of the future have been taken out."""
    return f"{source}__all"
