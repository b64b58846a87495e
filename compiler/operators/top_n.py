"""QUALIFY: the top of each closed window, in plain Spark, whose streams have no ROW_NUMBER.

    .groupBy("window_time", "window_start")
    .agg(F.collect_list(F.struct("tag", "n")).alias("rows__"))
    .withColumn("rows__", F.expr("array_sort(rows__, (l, r) -> CASE … END)"))
    .select("window_time", "window_start", F.posexplode(F.slice("rows__", 1, 10)).alias(…))
    .select("window_start", F.expr("position__ + 1").alias("rank"), "row__.tag", …)

With ties, ``starts__`` has the positions, from zero, where a new rank begins: RANK counts rows up
to there, DENSE_RANK counts positions. Names with ``__`` can't collide with a user's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts import plan
from ...dsl.ast.expressions import ColumnRef
from ...dsl.ast.node import Name
from ...dsl.format import sql
from ...dsl.reports.source import Span
from ..model import types
from ..model.graph import OperatorGraph, StateUse
from ..model.pipeline import Relation
from ..model.schema import Schema
from ..model.steps import OrderItem, TopN
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .clocks import behind, when
from .entries import branch_entry, by_reference, type_text
from .facts.fact import Fact
from .facts.instants import EXAMPLE, instant
from .facts.sizes import row_size
from .kind import OperatorKind, RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand, named
from .rows.origins import Branch, Branches, Place, Terms, reference

_NOWHERE = Span(0, 0)

ROWS = "collect_list(rows)"
"""The aggregate that keeps the rows of a window."""


class TopNKind(RowKind[TopN], OperatorKind[TopN]):
    """The first rows of each partition of a window, when it closes."""

    step = TopN
    noun = "a top-N"
    appends = True
    in_rocksdb = False

    def lines(self, step: TopN) -> list[str]:
        by = "" if step.function == "row_number" else f" by {step.function}"
        order = [
            f"{o.column} {'desc' if o.descending else 'asc'} "
            f"nulls {'first' if o.nulls_first else 'last'}"
            for o in step.order
        ]
        return [
            f"top {step.limit} {step.id} closed by {step.time}{by}",
            f"  keys {', '.join(step.keys)}",
            f"  order {', '.join(order)}",
            f"  output {', '.join(step.output)}",
        ]

    def words(self, step: TopN) -> str:
        order = ", ".join(f"{o.column}{' descending' if o.descending else ''}" for o in step.order)
        ties = {"rank": " with ties", "dense_rank": " places with ties"}.get(step.function, "")
        return f"top {step.limit}{ties} by {order}"

    def reads(self, step: TopN, heads: frozenset[str]) -> tuple[()]:
        return ()

    def windows(self, step: TopN) -> tuple[()]:
        return ()

    def identity(self, step: TopN, before: Identity | None) -> Identity | None:
        if before is None:
            return None
        output = frozenset(step.output)
        kept = tuple(part & output for part in before.parts)
        return Identity(kept, before.words, before.constants & output)

    def script(self, step: TopN, rows: Chain) -> Chain:
        keys = tuple(_path(name) for name in step.keys)
        kept = ", ".join(_path(name) for name in step.columns)
        ties = step.function != "row_number"
        first = '"rows__"' if ties else f'F.slice("rows__", 1, {step.limit})'
        exploded = f'F.posexplode({first}).alias("position__", "row__")'
        return rows.then(
            Call("groupBy", keys),
            Call("agg", (f'F.collect_list(F.struct({kept})).alias("rows__")',), open=True),
            _column("rows__", _sorted(step.order)),
            *(_with_ties(step) if ties else ()),
            Call("select", (*keys, *(('"starts__"',) if ties else ()), exploded), open=True),
            Call("select", tuple(_output(step, name) for name in step.output), open=True),
        )

    def columns(self, step: TopN, before: Columns) -> Columns:
        known = {**before, step.position: types.INT} if step.position is not None else before
        return {name: known.get(name, types.UNKNOWN) for name in step.output}

    def needs(self, step: TopN, demand: Demand) -> Demand:
        return Demand(named((*step.keys, *step.columns)))

    def branches(self, step: TopN, before: Branches) -> Branches:
        known: Terms = before[0].terms if len(before) == 1 else {}
        terms: Terms = {(name,): known.get((name,), reference(name)) for name in step.output}
        return (Branch(step.id, (), terms),)

    def says(self, step: TopN) -> tuple[()]:
        return ()

    def use(self, step: TopN, demand: Demand) -> StateUse:
        return StateUse(step, aggregates=(ROWS,))

    def kept(self, step: TopN, use: StateUse) -> tuple[()]:
        return ()

    def describe(self, step: TopN, place: Place) -> plan.TopN:
        known = place.columns_before()
        keys, columns = by_reference(step.keys), by_reference(step.columns)
        return plan.TopN(
            id=step.id,
            stream=place.stream,
            keys=tuple(plan.Column(name, None) for name in step.keys),
            rows=step.columns,
            order=tuple(f"{o.column} {'desc' if o.descending else 'asc'}" for o in step.order),
            limit=step.limit,
            aggregates=(
                plan.Aggregate(
                    id=ROWS,
                    function="collect_list",
                    filter=None,
                    cells=(plan.AggregateCell(id=ROWS, buffer="buf", type="BINARY"),),
                ),
            ),
            given=tuple(type_text(known.get(name, types.UNKNOWN)) for name in step.columns),
            input=tuple(branch_entry(b, keys=keys, columns=columns) for b in place.before()),
            function=None if step.function == "row_number" else step.function,
        )

    def describe_use(self, step: TopN, use: StateUse) -> plan.Use:
        return plan.Use(step.id, aggregates=use.aggregates)

    def facts(self, step: TopN, graph: OperatorGraph) -> Iterator[Fact]:
        relation = next(r for r, s in graph.stateful() if s.id == step.id)
        schema = {field.name: field.type for field in relation.schema}
        row = row_size((name, schema.get(name, types.UNKNOWN)) for name in step.columns)
        yield Fact("keys", (", ".join(step.keys),))
        yield from behind(graph, step)
        yield Fact(
            "state", (f"{row} for each row of an open window, not only for the first {step.limit}",)
        )
        yield Fact(
            "bound", (f"the watermark: rows are forgotten when it reaches their {step.time}",)
        )
        closes = f"the first {step.limit} rows of a window together, when it closes"
        text = f"{closes}. The window that ends at {instant(EXAMPLE)} closes at that watermark:"
        yield Fact("comes out", (text, *when(graph, step, EXAMPLE)))
        yield Fact("late", ("a row of a closed window is dropped",))

    def changes(self, step: TopN) -> bool:
        return False

    def lag(self, step: TopN) -> None:
        return None

    def gives_old_rows(self, step: TopN) -> bool:
        return False

    def by_query_watermark(self, step: TopN) -> bool:
        return False

    def refused(self, step: TopN, relation: Relation, below: Schema) -> tuple[()]:
        return ()


def _column(name: str, lines: list[str]) -> Call:
    text = "\n".join(f"    {quoted(line)}" for line in lines)
    return Call("withColumn", (quoted(name), f"F.expr(\n{text}\n)"), open=True)


def _with_ties(step: TopN) -> tuple[Call, ...]:
    """Return the calls that find where ranks begin, and cut off those beyond the limit."""
    columns = [sql(ColumnRef(_NOWHERE, (Name(_NOWHERE, item.column),))) for item in step.order]
    first, *others = (f"rows__[i].{c} <=> rows__[i - 1].{c}" for c in columns)
    equal = [f" OR NOT ({first}", *(f" AND {other}" for other in others)]
    equal[-1] += "))"
    starts = ["filter(sequence(0, size(rows__) - 1), i -> i = 0", *equal]
    behind = f"get(starts__, {step.limit})"
    if step.function == "rank":
        behind = f"get(filter(starts__, s -> s >= {step.limit}), 0)"
    cut = [f"slice(rows__, 1, coalesce({behind},", " size(rows__)))"]
    return _column("starts__", starts), _column("rows__", cut)


_PLACES = {
    "row_number": "position__ + 1",
    "rank": "array_max(filter(starts__, s -> s <= position__)) + 1",
    "dense_rank": "size(filter(starts__, s -> s <= position__))",
}


def _output(step: TopN, name: str) -> str:
    if name == step.position:
        return f"F.expr({quoted(_PLACES[step.function])}).alias({quoted(name)})"
    return _path(name) if name in step.keys else _path("row__", name)


def _sorted(order: tuple[OrderItem, ...]) -> list[str]:
    lines = ["array_sort(rows__, (l, r) -> CASE"]
    for item in order:
        lines.extend(f" {case}" for case in _cases(item))
    lines.append(" ELSE 0 END)")
    return lines


def _cases(item: OrderItem) -> list[str]:
    """Return the WHENs that order two rows by one key; -1 is `l` before `r`."""
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
