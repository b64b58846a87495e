"""GROUP BY."""

from __future__ import annotations

from ...dsl.ast import expressions as e
from ...dsl.format import sql
from ..model.steps import Aggregate, Key
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import OperatorKind, RowKind
from .windows import grouping, prepared, window_words

_NOTHING = 'F.count(F.lit(1)).alias("rows__")'
"""``agg`` wants one where GROUP BY has keys alone; no column takes it, so Spark drops it."""


class AggregateKind(RowKind[Aggregate], OperatorKind[Aggregate]):
    """Groups of rows, of a window or without end."""

    step = Aggregate

    def lines(self, step: Aggregate) -> list[str]:
        window = f" {step.window}" if step.window is not None else ""
        lines = [f"aggregate {step.id}{window}{', changes' if step.changes else ''}"]
        lines += [f"  key {k.name} = {sql(k.value.expression)}" for k in step.keys]
        lines += [f"  {column}" for column in step.columns]
        for call in step.calls:
            cells = ", ".join(f"{cell.buffer} {cell.type}" for cell in call.cells)
            lines.append(f"  state {call.id}: {cells}")
        return lines

    def words(self, step: Aggregate) -> str:
        groups = window_words(step.window) if step.window is not None else "groups"
        by = f" by {', '.join(k.name for k in step.keys)}" if step.keys else ""
        if step.window is None and not step.keys:
            groups = "one group of all rows"
        return f"{groups}{by}{', each change' if step.changes else ''}"

    def says(self, step: Aggregate) -> tuple[()]:
        return ()

    def script(self, step: Aggregate, rows: Chain) -> Chain:
        keys = tuple(map(_key, step.keys))
        if step.window is not None:
            rows, keys = prepared(step.window, rows), (grouping(step.window), *keys)
        found = tuple(map(columns.output, step.columns)) or (_NOTHING,)
        return rows.then(Call("groupBy", keys), Call("agg", found, open=True))


def _key(item: Key) -> str:
    """Return a grouping key under the name that it has afterwards.

    An expression always gets it: the one that Spark would give is not ours, `(v % 3)` for `v % 3`.
    """
    expression = item.value.expression
    if isinstance(expression, e.ColumnRef) and expression.parts[-1].text == item.name:
        return quoted(columns.path(expression))
    return f"{columns.value(expression)}.alias({quoted(item.name)})"
