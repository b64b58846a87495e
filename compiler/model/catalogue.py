"""The names of Spark's built-in functions, as ``scripts/make_catalogue.py`` found them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast


class Shape(NamedTuple):
    """A function in the catalogue: its group, fewest and most arguments (None: any)."""

    group: str
    least: int
    most: int | None


@cache
def _entries() -> dict[str, list[str | int | None]]:
    text = Path(__file__).with_name("catalogue.json").read_bytes()
    return cast(dict[str, list[str | int | None]], json.loads(text)["functions"])


def shape(name: str) -> Shape | None:
    """Return the catalogue's entry of a lower-case name, None when there is none."""
    entry = _entries().get(name)
    if entry is None:
        return None
    return Shape(cast(str, entry[0]), cast(int, entry[1]), cast(int | None, entry[2]))


def names() -> tuple[str, ...]:
    """Return every function's name, in order."""
    return tuple(_entries())
