"""A test file with expected rows replaced by actual ones.

Only rows that differ are replaced; all other text stays as it is, including comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...dsl.reports.source import Span
from ...dsl.yaml.text import yaml_line
from .compare import Comparison

_WIDTH = 100
_KEY = re.compile(r"(?P<dashes>[ ]*(?:- +)*)[^\s#{\[][^#{\[]*:[ ]*")
"""The text before a value that is alone after its key."""

Edit = tuple[Span, str]


def updated(text: str, comparisons: Iterable[Comparison]) -> str:
    """Return the text of a file for which every comparison passes.

    Of several comparisons of one expectation the first counts. One that names only some rows
    (``contains``) stays: it leaves out others on purpose.
    """
    first: dict[Span, Comparison] = {}
    for found in comparisons:
        first.setdefault(found.expect.node.span, found)
    edits = [
        edit
        for found in first.values()
        if not found.holds and not found.expect.contains
        for edit in _edits(text, found)
    ]
    for span, new in sorted(edits, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def _edits(text: str, found: Comparison) -> list[Edit]:
    node = found.expect.node
    if node.flow or found.expect.ordered or len(found.got) == 0:
        return [_whole(text, found)]
    rows = found.expect.rows
    edits = [(rows[a].span, _row(found, b)) for a, b in found.changed]
    edits += [(_item(text, rows[a].span), "") for a in found.missing]
    if found.unexpected:
        indent = _column(text, node.span.start)
        added = "".join(f"{' ' * indent}- {_row(found, b)}\n" for b in found.unexpected)
        edits.append(_after(text, node.span.end, added))
    return edits


def _row(found: Comparison, place: int) -> str:
    return yaml_line(dict(found.got[place]))


def _after(text: str, place: int, added: str) -> Edit:
    end = text.find("\n", place)
    if end < 0:
        return Span(len(text), len(text)), f"\n{added[:-1]}"
    return Span(end + 1, end + 1), added


def _item(text: str, span: Span) -> Span:
    """Return the lines of an item of a list in block style."""
    start = text.rfind("\n", 0, text.rfind("-", 0, span.start)) + 1
    end = text.find("\n", span.end)
    return Span(start, len(text) if end < 0 else end + 1)


def _whole(text: str, found: Comparison) -> Edit:
    """Return the list rewritten, keeping the text of the rows that are as expected."""
    kept = {b: a for a, b in found.matched}
    order = range(len(found.got))
    if not found.expect.ordered:
        instead = dict(kept) | {b: a for a, b in found.changed}
        order_key = [(instead.get(b, len(found.expect.rows)), b) for b in order]
        places = [b for _, b in sorted(order_key)]
    else:
        places = list(order)
    items = [
        _written(text, found.expect.rows[kept[b]].span) if b in kept else _row(found, b)
        for b in places
    ]
    span = found.expect.node.span
    flat = f"[{', '.join(items)}]"
    line = text.rfind("\n", 0, span.start) + 1
    if not found.expect.node.flow:
        return _block(text, span, items)
    before = _KEY.fullmatch(text[line : span.start])
    alone = text[span.end :].split("\n", 1)[0].strip()
    if items and before and (not alone or alone.startswith("#")):
        indent = " " * (len(before["dashes"]) + 2)
        start = len(text[: span.start].rstrip(" "))
        return Span(start, span.end), "".join(f"\n{indent}- {item}" for item in items)
    if span.start - line + len(flat) <= _WIDTH:
        return span, flat
    indent = " " * (len(text[line:]) - len(text[line:].lstrip(" -")) + 2)
    return span, "[\n" + ",\n".join(f"{indent}{item}" for item in items) + "]"


def _written(text: str, span: Span) -> str:
    """Return a row as written in the file, on one line."""
    return text[span.start : span.end]


def _block(text: str, span: Span, items: list[str]) -> Edit:
    if not items:
        start = len(text[: span.start].rstrip())
        behind_key = text[start - 1] == ":"
        return Span(start if behind_key else span.start, span.end), " []" if behind_key else "[]"
    indent = " " * _column(text, span.start)
    return span, f"\n{indent}".join(f"- {item}" for item in items)


def _column(text: str, place: int) -> int:
    return place - text.rfind("\n", 0, place) - 1
