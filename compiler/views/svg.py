"""A flow as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape

from ...contracts.records import dataclass
from .flow import Arrow, Box, Flow
from .mermaid import kind_of
from .placing import Placed, Spot, place

_COLOURS = {
    "source": ("#e3f4ea", "#2f8f5b"),
    "table": ("#e3f4ea", "#2f8f5b"),
    "stream": ("#f6f8fa", "#8793a0"),
    "state": ("#e4eefb", "#2b6cb0"),
    "side": ("#fdf1de", "#c77d1a"),
    "sink": ("#f1e9fa", "#7b4bb7"),
}
"""The fill and the border of each kind of box."""
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_TITLE, _TEXT = 13, 11
"""Font sizes; a monospaced character is six tenths as wide."""
_LETTER = 0.6
_LEADING = 16
_PADDING = 12
_MARGIN = 24
_MOST_LETTERS = 46
_STRAIGHT = 8
"""How far apart the middles of two boxes may be for a straight arrow."""
_BETWEEN_LAYERS, _BETWEEN_BOXES = 64, 22


@dataclass(frozen=True, slots=True)
class _Card:
    """A box with its lines as written: text, and whether it is about state."""

    box: Box
    lines: tuple[tuple[str, bool], ...]

    @property
    def size(self) -> tuple[int, int]:
        longest = max((len(text) for text, _ in self.lines), default=0)
        letters = max(len(self.box.name) * _TITLE, longest * _TEXT) * _LETTER
        return round(letters) + 2 * _PADDING, (len(self.lines) + 1) * _LEADING + 2 * _PADDING - 4


def svg(flow: Flow) -> str:
    """Return a flow as a standalone picture."""
    cards = [_Card(box, tuple(_wrapped(box))) for box in flow.boxes]
    numbers = {box.name: n for n, box in enumerate(flow.boxes)}
    placed = place(
        [card.size for card in cards],
        [(numbers[a.start], numbers[a.end]) for a in flow.arrows],
        between_layers=_BETWEEN_LAYERS,
        between_boxes=_BETWEEN_BOXES,
    )
    head = _head(flow)
    top = _MARGIN + len(head) * 22 + (8 if head else 0)
    longest = round(max(len(flow.title) * 16, len(flow.description) * 12) * _LETTER)
    width = max(placed.width, longest) + 2 * _MARGIN
    height = placed.height + top + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{_FONT}" role="img">',
        f"<title>{escape(flow.title)}</title>",
        _arrow_heads(),
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *head,
        f'<g transform="translate({_MARGIN} {top})">',
        *(_arrow(a, way, placed) for a, way in zip(flow.arrows, placed.ways, strict=True)),
    ]
    for card, spot in zip(cards, placed.spots, strict=False):
        lines += _card(card, spot)
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _wrapped(box: Box) -> Iterator[tuple[str, bool]]:
    for line in box.lines:
        for text in textwrap.wrap(line.text, _MOST_LETTERS, subsequent_indent="  "):
            yield text, line.is_state


def _head(flow: Flow) -> list[str]:
    texts = [(flow.title, 16, "#111111", "bold"), (flow.description, 12, "#57606a", "normal")]
    return [
        f'<text x="{_MARGIN}" y="{_MARGIN + 10 + 22 * row}" font-size="{size}" fill="{colour}" '
        f'font-weight="{weight}">{escape(text)}</text>'
        for row, (text, size, colour, weight) in enumerate(texts)
        if text
    ]


def _arrow_heads() -> str:
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>'
        for name, colour in (("rows", "#6b7683"), ("side", "#c77d1a"))
    )
    return f"<defs>{heads}</defs>"


def _arrow(arrow: Arrow, way: list[int], placed: Placed) -> str:
    spots = [placed.spots[number] for number in way]
    first, *between, last = spots
    x, y = first.x + first.width, round(first.y)
    if not between and abs(first.y - last.y) <= _STRAIGHT:
        y = round(last.y)
    path = [f"M{x} {y}"]
    for spot in between:
        path += [_curve(x, y, spot.x, round(spot.y)), f"H{spot.x + spot.width}"]
        x, y = spot.x + spot.width, round(spot.y)
    path.append(_curve(x, y, last.x, round(last.y)))
    kind = "side" if arrow.is_side else "rows"
    colour = "#c77d1a" if arrow.is_side else "#6b7683"
    dashes = ' stroke-dasharray="5 4"' if arrow.is_side else ""
    return (
        f'<path d="{" ".join(path)}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes} '
        f'marker-end="url(#{kind})"/>'
    )


def _curve(x: int, y: int, to_x: int, to_y: int) -> str:
    middle = (x + to_x) // 2
    return f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"


def _card(card: _Card, spot: Spot) -> Iterator[str]:
    ground, edge = _COLOURS[kind_of(card.box)]
    top = round(spot.y - spot.height / 2)
    radius = 14 if card.box.kind in ("source", "table", "sink") else 4
    dashes = ' stroke-dasharray="5 4"' if card.box.kind == "side" else ""
    yield (
        f'<rect x="{spot.x}" y="{top}" width="{spot.width}" height="{spot.height}" '
        f'rx="{radius}" fill="{ground}" stroke="{edge}" stroke-width="1.5"{dashes}/>'
    )
    x, y = spot.x + _PADDING, top + _PADDING + 10
    yield (
        f'<text x="{x}" y="{y}" font-size="{_TITLE}" font-weight="bold" fill="#111111">'
        f"{escape(card.box.name)}</text>"
    )
    for text, is_state in card.lines:
        y += _LEADING
        colour = edge if is_state else "#3d4650"
        yield f'<text x="{x}" y="{y}" font-size="{_TEXT}" fill="{colour}">{_spaced(text)}</text>'


def _spaced(text: str) -> str:
    """Return a text whose leading spaces are visible."""
    bare = text.lstrip(" ")
    return "\N{NO-BREAK SPACE}" * (len(text) - len(bare)) + escape(bare)
