"""QUALIFY: the top of each closed window, in plain Spark, whose streams have no ROW_NUMBER.

    .groupBy("window_time", "window_start")
    .agg(F.collect_list(F.struct("tag", "n")).alias("rows__"))
    .withColumn("rows__", F.expr("array_sort(rows__, (l, r) -> CASE … END)"))
    .select("window_time", "window_start", F.posexplode(F.slice("rows__", 1, 10)).alias(…))
    .select("window_start", F.expr("position__ + 1").alias("rank"), "row__.tag", …)

Names with ``__`` can't meet a user's.
"""

from __future__ import annotations

from ...dsl.ast.expressions import ColumnRef
from ...dsl.ast.node import Name
from ...dsl.format import sql
from ...dsl.source import Span
from ..model.steps import OrderItem, TopN
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import OperatorKind, RowKind

_NOWHERE = Span(0, 0)


class TopNKind(RowKind[TopN], OperatorKind[TopN]):
    """The first rows of each partition of a window, when it closes."""

    step = TopN

    def lines(self, step: TopN) -> list[str]:
        order = [
            f"{o.column} {'desc' if o.descending else 'asc'} "
            f"nulls {'first' if o.nulls_first else 'last'}"
            for o in step.order
        ]
        return [
            f"top {step.limit} {step.id} closed by {step.time}",
            f"  keys {', '.join(step.keys)}",
            f"  order {', '.join(order)}",
            f"  output {', '.join(step.output)}",
        ]

    def words(self, step: TopN) -> str:
        order = ", ".join(f"{o.column}{' descending' if o.descending else ''}" for o in step.order)
        return f"top {step.limit} by {order}"

    def says(self, step: TopN) -> tuple[()]:
        return ()

    def script(self, step: TopN, rows: Chain) -> Chain:
        keys = tuple(_path(name) for name in step.keys)
        kept = ", ".join(_path(name) for name in step.columns)
        exploded = f'F.posexplode(F.slice("rows__", 1, {step.limit})).alias("position__", "row__")'
        return rows.then(
            Call("groupBy", keys),
            Call("agg", (f'F.collect_list(F.struct({kept})).alias("rows__")',), open=True),
            Call("withColumn", ('"rows__"', f"F.expr(\n{_sorted(step.order)}\n)"), open=True),
            Call("select", (*keys, exploded), open=True),
            Call("select", tuple(_output(step, name) for name in step.output), open=True),
        )


def _output(step: TopN, name: str) -> str:
    if name == step.position:
        return f'F.expr("position__ + 1").alias({quoted(name)})'
    return _path(name) if name in step.keys else _path("row__", name)


def _sorted(order: tuple[OrderItem, ...]) -> str:
    lines = ["array_sort(rows__, (l, r) -> CASE"]
    for item in order:
        lines.extend(f" {case}" for case in _cases(item))
    lines.append(" ELSE 0 END)")
    return "\n".join(f"    {quoted(line)}" for line in lines)


def _cases(item: OrderItem) -> list[str]:
    """Return the WHENs that put two rows in order by one key; -1 is `l` before `r`."""
    column = sql(ColumnRef(_NOWHERE, (Name(_NOWHERE, item.column),)))
    before, after = (">", "<") if item.descending else ("<", ">")
    cases: list[str] = []
    if item.nullable:
        null_left, null_right = ("-1", "1") if item.nulls_first else ("1", "-1")
        cases.append(f"WHEN l.{column} IS NULL AND r.{column} IS NOT NULL THEN {null_left}")
        cases.append(f"WHEN r.{column} IS NULL AND l.{column} IS NOT NULL THEN {null_right}")
    cases.append(f"WHEN l.{column} {before} r.{column} THEN -1")
    cases.append(f"WHEN l.{column} {after} r.{column} THEN 1")
    return cases


def _path(*names: str) -> str:
    return quoted(sql(ColumnRef(_NOWHERE, tuple(Name(_NOWHERE, n) for n in names))))
