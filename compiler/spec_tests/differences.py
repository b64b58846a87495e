"""The differences between rows as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.yaml.text import yaml_line
from .compare import Comparison, cells_equal
from .values import Value

WIDTH = 92
"""The maximum width of a table, so that it fits 100 columns with its indent; rows of a wider one
are paragraphs."""

WORDS = ("missing", "unexpected")
_MOST_ROWS = 25
_INDENT = "    "

_Line = tuple[str, list[str]]
"""What happened to a row, and its cells."""


def headline(found: Comparison) -> str:
    """Return the differences in one line: ``1 missing, 2 changed (3 rows as expected)``."""
    counts = difference_counts(found)
    if found.disordered:
        counts.append("all rows, in another order")
    number = len(found.matched)
    kept = f" ({number} {'row' if number == 1 else 'rows'} as expected)"
    return ", ".join(counts) + ("" if found.disordered else kept)


def difference_counts(found: Comparison, words: tuple[str, str] = WORDS) -> list[str]:
    """Return how many rows differ in each way: ``1 missing``, ``2 changed``."""
    counted = zip(
        (*words, "changed"), (found.missing, found.unexpected, found.changed), strict=True
    )
    return [f"{len(rows)} {word}" for word, rows in counted if rows]


def difference_lines(found: Comparison, words: tuple[str, str] = WORDS) -> list[str]:
    """Return the rows that differ; in a changed one a cell reads ``expected -> got``.

    ``words`` are those for a row that is only expected, and for one that is only actual.
    """
    names = [c.name for c in found.expect.columns]
    lines = list(_lines(found, words))
    shown, left = lines[:_MOST_ROWS], len(lines) - _MOST_ROWS
    table = _table(names, shown)
    if max(map(len, table)) > WIDTH:
        table = _paragraphs(names, shown)
    return [*table, *([f"{_INDENT}… and {left} more"] if left > 0 else [])]


def _lines(found: Comparison, words: tuple[str, str]) -> list[_Line]:
    if found.disordered:
        return _positions(found)
    expect, got = found.expect, found.got
    lines: list[tuple[int, _Line]] = []
    for place in found.missing:
        row = expect.rows[place].values
        cells = [_cell(row[c.name]) if c.name in row else "" for c in expect.columns]
        lines.append((place, (words[0], cells)))
    for place, other in found.changed:
        lines.append((place, ("changed", _changed(found, place, other))))
    extra = [
        (words[1], [_cell(got[place][c.name]) for c in expect.columns])
        for place in found.unexpected
    ]
    return [*(line for _, line in sorted(lines, key=lambda pair: pair[0])), *extra]


def _changed(found: Comparison, place: int, other: int) -> list[str]:
    row, got = found.expect.rows[place], found.got[other]
    cells = []
    for column in found.expect.columns:
        text = _cell(got[column.name])
        if not cells_equal(found.expect, column, row, got):
            text = f"{_cell(row.values[column.name])} -> {text}"
        cells.append(text)
    return cells


def _positions(found: Comparison) -> list[_Line]:
    """Return the rows in the order in which they arrived, with their expected positions."""
    wanted = {other: place for place, other in found.matched}
    return [
        (
            f"{came}." if wanted[other] + 1 == came else f"{came}. not {wanted[other] + 1}.",
            [_cell(found.got[other][c.name]) for c in found.expect.columns],
        )
        for came, other in enumerate(sorted(wanted), 1)
    ]


def _cell(value: Value) -> str:
    return "NULL" if value is None else value if isinstance(value, str) else yaml_line(value)


def _table(names: Sequence[str], lines: Sequence[_Line]) -> list[str]:
    rows = [["", *names], *([word, *cells] for word, cells in lines)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(names) + 1)]
    return [
        (_INDENT + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def _paragraphs(names: Sequence[str], lines: Sequence[_Line]) -> list[str]:
    width = max(map(len, names))
    found = []
    for word, cells in lines:
        found.append(f"{_INDENT}{word}")
        found.extend(
            f"{_INDENT}  {name:<{width}}  {cell}".rstrip()
            for name, cell in zip(names, cells, strict=True)
            if cell
        )
    return found
