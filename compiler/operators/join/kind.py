"""The kind of joins of two streams."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts import plan
from ....dsl.ast.expressions import Expression
from ....dsl.format import sql
from ....dsl.format.words import identifier
from ...model.graph import OperatorGraph, StateUse
from ...model.pipeline import Relation
from ...model.schema import Schema
from ...model.steps import Join, JoinSide, Window
from ...pyspark import columns
from ...pyspark.layout import Call, Chain
from ...pyspark.literals import quoted
from ..entries import kept_columns
from ..facts.fact import Fact
from ..kind import OperatorKind, RootKind
from ..rows.columns import Columns, ColumnsOf
from ..rows.identity import Identity
from ..rows.needed import Demand, Feed
from ..rows.origins import Branches, Place, Upstream
from ..windows import assigned, window_words
from .entry import join_entry, joined
from .facts import join_facts, passes_on
from .waiting import read_of, waiting


class JoinKind(RootKind[Join], OperatorKind[Join]):
    """Pairs of rows that are close in time, or in the same window."""

    step = Join
    noun = "a join"
    appends = True
    in_rocksdb = False

    def lines(self, step: Join) -> list[str]:
        lines = [f"{step.join} join {step.id}"]
        for side in (step.left, step.right):
            keys = ", ".join(sql(key.expression) for key in side.keys)
            lines.append(f"  {side.relation} as {side.alias} by {keys} at {side.event_time}")
        lines.append(f"  on {sql(step.condition.expression)}")
        if step.left.window is not None:
            lines.append(f"  in the same {step.left.window}")
        else:
            bound = f"from {step.lower} to {step.upper}"
            lines.append(f"  right minus left time {bound} microseconds")
        return lines

    def words(self, step: Join) -> str:
        sides = f"{step.left.relation} and {step.right.relation}"
        if step.left.window is not None:
            return f"{step.join} join of {sides} in {window_words(step.left.window)}"
        return f"{step.join} interval join of {sides}"

    def reads(self, step: Join, heads: frozenset[str]) -> tuple[Expression]:
        return (step.condition.expression,)

    def windows(self, step: Join) -> tuple[Window, ...]:
        return tuple(one.window for one in (step.left, step.right) if one.window is not None)

    def identity(self, step: Join, before: Identity | None) -> None:
        return None

    def frame(self, step: Join) -> Chain:
        condition = columns.on(step.condition.expression)
        arguments = (_side(step.right).text(), condition, quoted(step.join))
        return _side(step.left).then(Call("join", arguments, open=True))

    def feeds(self, step: Join, demand: Demand, of: ColumnsOf) -> Iterator[Feed]:
        for side in (step.left, step.right):
            yield Feed(side.relation, Demand(read_of(step, side, demand)))

    def own_columns(self, step: Join, relation: Relation, upstream: Upstream) -> Columns:
        return {}

    def own_branches(self, step: Join, relation: Relation, upstream: Upstream) -> Branches:
        return (joined(step, upstream),)

    def says(self, step: Join) -> tuple[()]:
        return ()

    def use(self, step: Join, demand: Demand) -> StateUse:
        return StateUse(step, columns=waiting(step, demand))

    def kept(self, step: Join, use: StateUse) -> Iterator[tuple[str, tuple[str, ...]]]:
        return (("side", columns) for columns in use.columns)

    def describe(self, step: Join, place: Place) -> plan.Join:
        return join_entry(step, place.stream, place)

    def describe_use(self, step: Join, use: StateUse) -> plan.Use:
        left, right = use.columns
        kept = ((step.left.schema, left), (step.right.schema, right))
        return plan.Use(step.id, columns=tuple(kept_columns(*side) for side in kept))

    def facts(self, step: Join, graph: OperatorGraph) -> Iterator[Fact]:
        return join_facts(step, graph)

    def changes(self, step: Join) -> bool:
        return False

    def lag(self, step: Join) -> int | None:
        return passes_on(step)

    def gives_old_rows(self, step: Join) -> bool:
        return True

    def by_query_watermark(self, step: Join) -> bool:
        return False

    def refused(self, step: Join, relation: Relation, below: Schema) -> tuple[()]:
        return ()


def _side(side: JoinSide) -> Chain:
    rows = Chain(side.relation)
    if side.window is not None:
        rows = assigned(side.window, rows)
    elif side.may_lack_time and side.event_time is not None:
        rows = rows.then(Call("where", (quoted(f"{identifier(side.event_time)} IS NOT NULL"),)))
    return rows.then(Call("alias", (quoted(side.alias),)))
