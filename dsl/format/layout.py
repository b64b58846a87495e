"""How texts of statements are laid out in lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 100
INDENT = "  "


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Return lines moved to the right."""
    return [INDENT * depth + line if line else line for line in lines]


def bracketed(head: str, items: Sequence[str], tail: str = "", room: int = WIDTH) -> list[str]:
    """Return ``head(a, b)tail``, with a line for each item if one line has no room."""
    flat = f"{head}({', '.join(items)}){tail}"
    if len(flat) <= room and "\n" not in flat:
        return [flat]
    return [f"{head}(", *indented(separated(items)), f"){tail}"]


def listed(head: str, items: Sequence[str], room: int = WIDTH) -> list[str]:
    """Return ``head a, b``, with a line for each item if one line has no room."""
    flat = f"{head} {', '.join(items)}"
    if len(flat) <= room:
        return [flat]
    return [head, *indented(separated(items))]


def separated(items: Sequence[str]) -> list[str]:
    """Return items with commas behind all but the last."""
    return [f"{item}," for item in items[:-1]] + list(items[-1:])


def appended(lines: list[str], text: str) -> list[str]:
    """Return lines with a text behind the last."""
    return [*lines[:-1], lines[-1] + text]


def joined(first: list[str], second: list[str]) -> list[str]:
    """Return two blocks, the second beginning on the last line of the first."""
    return [*first[:-1], first[-1] + second[0], *second[1:]]
