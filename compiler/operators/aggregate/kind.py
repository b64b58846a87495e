"""GROUP BY."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts import plan
from ....dsl.ast import expressions as e
from ....dsl.ast.expressions import Expression
from ....dsl.ast.walk import walk
from ....dsl.format import sql
from ...model.graph import OperatorGraph, StateUse
from ...model.pipeline import Relation
from ...model.same import canonical
from ...model.schema import Schema
from ...model.steps import WINDOW_STRUCTS, Aggregate, Key, Window
from ...model.types import Type
from ...pyspark import columns
from ...pyspark.layout import Call, Chain
from ...pyspark.literals import quoted
from ..facts.fact import Fact
from ..kind import OperatorKind, RowKind
from ..rows.columns import Columns
from ..rows.identity import Identity, by_columns
from ..rows.needed import Demand, references
from ..rows.origins import Branch, Branches, Place, Terms, reference, substitute
from ..windows import STRUCT, grouping, prepared, window_words
from .entry import aggregate_entry
from .facts import aggregate_facts

_NOTHING = 'F.count(F.lit(1)).alias("rows__")'
"""``agg`` needs one where GROUP BY has only keys; no column reads it, so Spark drops it."""


class AggregateKind(RowKind[Aggregate], OperatorKind[Aggregate]):
    """Groups of rows, per window or unbounded."""

    step = Aggregate
    noun = "an aggregate"
    appends = True
    in_rocksdb = False

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

    def reads(self, step: Aggregate, heads: frozenset[str]) -> Iterator[Expression]:
        yield from (key.value.expression for key in step.keys)
        yield from (c.value.expression for c in step.columns if c.name in heads)

    def windows(self, step: Aggregate) -> tuple[Window, ...]:
        return () if step.window is None else (step.window,)

    def identity(self, step: Aggregate, before: Identity | None) -> Identity:
        known = by_columns(key.name for key in step.keys)
        if step.window is None:
            return known
        window = frozenset(WINDOW_STRUCTS)
        return Identity((*known.parts, window), (*known.words, "window_start"))

    def script(self, step: Aggregate, rows: Chain) -> Chain:
        keys = tuple(map(_key, step.keys))
        if step.window is not None:
            rows, keys = prepared(step.window, rows), (grouping(step.window), *keys)
        found = tuple(map(columns.output, step.columns)) or (_NOTHING,)
        return rows.then(Call("groupBy", keys), Call("agg", found, open=True))

    def columns(self, step: Aggregate, before: Columns) -> Columns:
        columns: dict[str, Type] = {}
        if step.window is not None:
            columns[step.window.struct] = STRUCT
        columns |= {key.name: key.value.type for key in step.keys}
        return columns | {column.name: column.value.type for column in step.columns}

    def needs(self, step: Aggregate, demand: Demand) -> Demand:
        times = [] if step.window is None else [step.window.column.expression]
        return Demand(references([*times, *self.reads(step, demand.heads)]))

    def branches(self, step: Aggregate, before: Branches) -> Branches:
        known: Terms = before[0].terms if len(before) == 1 else {}
        terms: dict[tuple[str, ...], Expression] = {}
        if step.window is not None:
            terms[step.window.struct,] = reference(step.window.struct)
        made = [(one.name, one.value) for one in step.keys]
        made += [(one.name, one.value) for one in step.columns]
        terms |= {(name,): substitute(value.expression, known) for name, value in made}
        return (Branch(step.id, (), terms),)

    def says(self, step: Aggregate) -> tuple[()]:
        return ()

    def use(self, step: Aggregate, demand: Demand) -> StateUse:
        return StateUse(step, aggregates=_calls(step, demand.heads))

    def kept(self, step: Aggregate, use: StateUse) -> tuple[()]:
        return ()

    def describe(self, step: Aggregate, place: Place) -> plan.Aggregation:
        return aggregate_entry(step, place)

    def describe_use(self, step: Aggregate, use: StateUse) -> plan.Use:
        return plan.Use(step.id, aggregates=use.aggregates)

    def facts(self, step: Aggregate, graph: OperatorGraph) -> Iterator[Fact]:
        return aggregate_facts(step, graph)

    def changes(self, step: Aggregate) -> bool:
        return step.changes

    def lag(self, step: Aggregate) -> None:
        return None

    def gives_old_rows(self, step: Aggregate) -> bool:
        return False

    def by_query_watermark(self, step: Aggregate) -> bool:
        return False

    def refused(self, step: Aggregate, relation: Relation, below: Schema) -> tuple[()]:
        return ()


def _calls(step: Aggregate, alive: frozenset[str]) -> tuple[str, ...]:
    """Return the ids of the aggregates in live columns, in the order that Spark visits them."""
    ids = {canonical(call.call): call.id for call in step.calls}
    return tuple(
        dict.fromkeys(
            ids[form]
            for column in step.columns
            if column.name in alive
            for node in walk(column.value.expression)
            if isinstance(node, e.Call) and (form := canonical(node)) in ids
        )
    )


def _key(item: Key) -> str:
    """Return a grouping key under its name after the grouping.

    An expression is always named: the name that Spark would give differs, `(v % 3)` for `v % 3`.
    """
    expression = item.value.expression
    if isinstance(expression, e.ColumnRef) and expression.parts[-1].text == item.name:
        return quoted(columns.path(expression))
    return f"{columns.value(expression)}.alias({quoted(item.name)})"
