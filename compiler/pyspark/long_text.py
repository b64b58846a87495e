"""Long SQL in a script: the text of one expression as string literals on several lines.

    "aggregate("
        "spent__rows, "
        "CAST(NULL AS DECIMAL(20, 2)), "
        "(so_far, row) -> CAST(coalesce(so_far + row.amount, row.amount, so_far) AS DECIMAL(20, 2))"
    ")"

The longest pair of brackets is opened first, each of its arguments is a line (in a struct, a field
with its value), and so on inside those that are still long. Joined, the literals are the original
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from .literals import quoted

_LONG = 76
_INDENT = 4
_QUOTES = frozenset("'\"`")


def broken(text: str) -> str:
    """Return a text as a literal, or as several on consecutive lines."""
    return "\n".join(_lines(text, 0))


def _lines(text: str, indent: int) -> Iterator[str]:
    group = _longest_group(text) if indent + len(text) > _LONG else None
    if group is None:
        yield " " * indent + quoted(text)
        return
    opened, closed = group
    yield " " * indent + quoted(text[: opened + 1])
    arguments = list(_arguments(text, opened + 1, closed))
    if text.endswith("named_struct(", 0, opened + 1):
        # A field and its value share a line.
        pairs = zip_longest(arguments[::2], arguments[1::2], fillvalue="")
        arguments = [name + value for name, value in pairs]
    for argument in arguments:
        yield from _lines(argument, indent + _INDENT)
    yield from _lines(text[closed:], indent)


def _longest_group(text: str) -> tuple[int, int] | None:
    """Return where the longest pair of outer brackets begins and ends, None without any."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for place in _places(text):
        if text[place] == "(":
            opened.append(place)
        elif text[place] == ")" and opened:
            start = opened.pop()
            if not opened and place > start + 1:
                found.append((start, place))
    return max(found, key=lambda group: group[1] - group[0], default=None)


def _arguments(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the parts between commas, each with its trailing comma."""
    depth, first = 0, start
    for place in _places(text):
        if not start <= place < end:
            continue
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0 and text.startswith(", ", place):
            yield text[first : place + 2]
            first = place + 2
    yield text[first:end]


def _places(text: str) -> Iterator[int]:
    """Yield the positions of a text outside quotes."""
    quote, escaped = "", False
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in _QUOTES:
            quote = letter
        else:
            yield place
