"""The size of a YAML document, before it is read: a small text may stand for a huge value.

Aliases repeat what they name, and aliases of aliases multiply it. The parser's events give the
total without building anything.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

MOST_TEXT = 16 * 1024 * 1024
"""Characters of a file."""

_MOST_VALUES = 300_000
_MOST_REPEATED = 100_000
"""Values that aliases may add: enough for a reused page of rows, too few for a bomb."""

_DEEPEST = 100
"""More than any of our readers accepts, and less than the composer's stack."""


class TooLarge(Exception):
    """A document too large to be read: the text says why, ``offset`` where."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.offset = offset


def check_size(text: str, loader: type) -> None:
    """Raise ``TooLarge`` for a text that stands for more than can be read; ignore YAML errors."""
    if len(text) > MOST_TEXT:
        raise TooLarge("it is larger than 16 MB", 0)
    try:
        _count(yaml.parse(text, Loader=loader))
    except yaml.YAMLError:
        return


def _count(events: Iterator[yaml.Event]) -> None:
    sizes: dict[str | None, int] = {}
    opened: list[tuple[str | None, int]] = []
    values = repeated = 0
    for event in events:
        place = event.start_mark.index if event.start_mark is not None else 0
        if isinstance(event, yaml.DocumentStartEvent):
            sizes.clear()
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in opened):
                raise TooLarge(f"`*{event.anchor}` is used within what it names", place)
            # An alias that names nothing is reported by the composer.
            again = sizes.get(event.anchor, 1)
            values, repeated = values + again, repeated + again
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = values - before
        if len(opened) > _DEEPEST:
            raise TooLarge("values are nested too deeply", place)
        if repeated > _MOST_REPEATED:
            raise TooLarge("aliases expand to too many values", place)
        if values > _MOST_VALUES:
            raise TooLarge("it has more than 300,000 values", place)
