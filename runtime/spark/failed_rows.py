"""The row that made a query fail, and the expression that failed on it, where they are known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...contracts.terminal import one_line

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_SECONDS = 30
"""How long the input of a failed batch is searched, at most."""
_COLUMNS = 8
_EXPRESSION = 200


@dataclass(frozen=True, slots=True)
class BatchInput:
    """What a batch has read from a source: its `files`, or `partitions` with their messages."""

    source: str
    kind: str
    first: str
    last: str
    count: int

    def parts(self) -> str:
        """The only one, or the first and the last one.

        >>> BatchInput("orders", "files", "in/1.json", "in/3.json", 3).parts()
        'in/1.json to in/3.json (3 files)'
        """
        if self.count == 1:
            return one_line(self.first)
        between = " to " if self.kind == "files" else ", …, "
        return one_line(f"{self.first}{between}{self.last} ({self.count} {self.kind})")


@dataclass(frozen=True, slots=True)
class FailedRow:
    """What is known about a failure; `expression` and `row` are None if unknown.

    `row` says where the row is and what it contains. `inputs` are what the batch has read.
    """

    expression: str | None
    row: str | None
    batch: int
    inputs: Sequence[BatchInput]

    def lines(self) -> list[str]:
        """The lines below the reason: the expression, and the row or else the batch."""
        read = "; ".join(f"`{one.source}`: {one.parts()}" for one in self.inputs)
        batch = f"in batch {self.batch}" + (f", which read {read}" if read else "")
        return self._lines(batch if self.row is None else self.row)

    def lines_of_step(self) -> list[str]:
        """The same for a batch that is a step, with one file for each source."""
        files = ", ".join(one.first for one in self.inputs)
        return self._lines((f"in {files}" if files else None) if self.row is None else self.row)

    def _lines(self, place: str | None) -> list[str]:
        expression = None if self.expression is None else f"in `{self.expression}`"
        return [f"  {told}" for told in (expression, place) if told is not None]


def find_failed_row(query: StreamingQuery, thrown: Any, kernel: Any) -> FailedRow | None:
    """What is known about the row in an exception of Spark's; None if it is not about one.

    The query has ended. Its last batch is reread, and a row is reported only if the expression
    fails on it again.
    """
    found = kernel.FailedRow.of(query._jsq, thrown, _SECONDS)
    return None if found is None else told(json.loads(found))


def told(found: Mapping[str, Any]) -> FailedRow:
    """The kernel's finding, in words."""
    expression = found["expression"]
    inputs = [BatchInput(**one) for one in found["inputs"]]
    return FailedRow(
        None if expression is None else _line(expression, _EXPRESSION),
        None if found["row"] is None else _row(found["row"]),
        found["batch"],
        inputs,
    )


def _row(found: Mapping[str, Any]) -> str | None:
    """The location of a row, with the values that the expression reads.

    >>> print(_row({"place": "at in/1.json:3", "values": [["v", "0"], ["s", '"x"']]}))
    at in/1.json:3, where `v` is 0, `s` is "x"
    """
    shown = [f"`{one_line(name)}` is {one_line(value)}" for name, value in found["values"]]
    rest = len(shown) - _COLUMNS
    if rest > 0:
        shown[_COLUMNS:] = [f"and {rest} more"]
    values = f"where {', '.join(shown)}" if shown else ""
    place = one_line(found["place"] or "")
    return ", ".join(part for part in (place, values) if part) or None


def _line(text: str, length: int) -> str:
    line = one_line(" ".join(text.split()))
    return line if len(line) <= length else line[:length] + "…"
