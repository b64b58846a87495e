"""The manifests of barriers as files.

A manifest is a note below `barriers/` of a generation, and is written last: a barrier without one
does not exist.
"""

from __future__ import annotations

from ...contracts.notes.barrier import Manifest
from ..storage.notes import unseal


def load_manifest(text: str) -> Manifest:
    """The manifest in a note; raises ValueError, which says why, when it is damaged."""
    return Manifest.from_json(unseal(text))


def manifest_name(barrier: int) -> str:
    """The name of a barrier's file: names sort like numbers."""
    return f"{barrier:09d}.json"


def barrier_of(name: str) -> int | None:
    """The barrier whose file has this name, None for another file."""
    number = name.removesuffix(".json")
    return int(number) if number != name and number.isdigit() else None
