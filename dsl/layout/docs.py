"""Documents: text with optional line breaks.

A group is put on one line if it fits, else each of its own places becomes a line break. A comment
that ends a line breaks every group that continues after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .comments import Leaf


class Place(Enum):
    """What separates two texts.

    ``SPACE`` is always one; ``LINE`` is a space or a line break, ``SOFT`` nothing or a line break,
    ``HARD`` a line break. ``NOTHING`` is empty.
    """

    SPACE = 1
    LINE = 2
    SOFT = 3
    HARD = 4
    NOTHING = 5


SPACE, LINE, SOFT, HARD, NOTHING = Place


@dataclass(frozen=True, slots=True)
class Pad:
    """Spaces where the surrounding group is broken, else one space."""

    width: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A ``LINE`` before a leaf that keeps an empty line of the source."""

    leaf: Leaf


@dataclass(frozen=True, slots=True)
class Run:
    """A sequence of documents, in a group of its own or indented.

    ``first`` and ``last`` are its outermost leaves, ``width`` is its width on one line,
    ``is_broken`` says that it cannot be on one.
    """

    parts: tuple[Doc, ...]
    first: Leaf | None
    last: Leaf | None
    width: int
    is_broken: bool
    is_group: bool = False
    is_indented: bool = False


Doc = Leaf | Place | Pad | Gap | Run


def run(
    *parts: Doc, is_group: bool = False, is_indented: bool = False, broken: bool = False
) -> Run:
    """Return a sequence of documents."""
    first = last = None
    width = 0
    for part in parts:
        begin, end, size, is_broken = _measure(part)
        broken = broken or is_broken or bool(last and last.behind and begin)
        broken = broken or bool(last and begin and begin.above)
        first, last, width = first or begin, end or last, width + size
    return Run(parts, first, last, width, broken, is_group, is_indented)


def group(*parts: Doc, broken: bool = False) -> Run:
    """Return documents that are put on one line if they fit, unless ``broken``."""
    return run(*parts, is_group=True, broken=broken)


def indent(*parts: Doc) -> Run:
    """Return documents with their lines indented."""
    return run(*parts, is_indented=True)


def joined(items: Iterable[Doc], between: Sequence[Doc] = (SPACE,)) -> Run:
    """Return documents with separators between them."""
    parts: list[Doc] = []
    for item in items:
        parts += [*between, item] if parts else [item]
    return run(*parts)


def _measure(part: Doc) -> tuple[Leaf | None, Leaf | None, int, bool]:
    if isinstance(part, Run):
        return part.first, part.last, part.width, part.is_broken
    if isinstance(part, Leaf):
        return part, part, leaf_width(part), False
    if isinstance(part, Place):
        return None, None, int(part in (SPACE, LINE)), part is HARD
    return None, None, 1, False


def leaf_width(leaf: Leaf) -> int:
    """Return the width of a leaf on one line."""
    return len(leaf.text) + sum(len(text) + 1 for text in leaf.beside)
