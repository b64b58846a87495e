"""DISTINCT ON."""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts import plan
from ...dsl.ast.expressions import Expression
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model.graph import OperatorGraph, StateUse
from ..model.pipeline import Relation
from ..model.schema import Schema
from ..model.steps import Deduplicate
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .clocks import behind, when
from .entries import branch_entry, key_entry
from .facts.fact import LATE, Fact
from .facts.instants import EXAMPLE, instant
from .facts.sizes import number_size, row_size
from .kind import OperatorKind, RowKind
from .rows.columns import Columns
from .rows.identity import Identity, by_columns
from .rows.needed import Demand, references
from .rows.origins import Branch, Branches, Place


class DeduplicateKind(RowKind[Deduplicate], OperatorKind[Deduplicate]):
    """The first row of each key, which is kept for a while."""

    step = Deduplicate
    noun = "a deduplication"
    appends = False
    in_rocksdb = False

    def lines(self, step: Deduplicate) -> list[str]:
        keys = ", ".join(key.name for key in step.keys)
        return [f"deduplicate {step.id} by {keys} within {step.within}"]

    def words(self, step: Deduplicate) -> str:
        return f"first row of each {', '.join(k.name for k in step.keys)} within {step.within}"

    def reads(self, step: Deduplicate, heads: frozenset[str]) -> Iterator[Expression]:
        return (key.value.expression for key in step.keys)

    def windows(self, step: Deduplicate) -> tuple[()]:
        return ()

    def identity(self, step: Deduplicate, before: Identity | None) -> Identity:
        return by_columns(key.name for key in step.keys)

    def script(self, step: Deduplicate, rows: Chain) -> Chain:
        keys = ", ".join(quoted(key.name) for key in step.keys)
        return rows.then(Call("dropDuplicatesWithinWatermark", (f"[{keys}]",)))

    def columns(self, step: Deduplicate, before: Columns) -> Columns:
        return before

    def needs(self, step: Deduplicate, demand: Demand) -> Demand:
        return Demand(demand.whole | references(key.value.expression for key in step.keys))

    def branches(self, step: Deduplicate, before: Branches) -> Branches:
        return (Branch(step.id, (), before[0].terms),)

    def says(self, step: Deduplicate) -> tuple[()]:
        return ()

    def use(self, step: Deduplicate, demand: Demand) -> StateUse:
        return StateUse(step)

    def kept(self, step: Deduplicate, use: StateUse) -> tuple[()]:
        return ()

    def describe(self, step: Deduplicate, place: Place) -> plan.Deduplication:
        keys = [(key.name, key.value.expression) for key in step.keys]
        return plan.Deduplication(
            id=step.id,
            stream=place.stream,
            keys=tuple(map(key_entry, step.keys)),
            within=step.within.text,
            input=tuple(branch_entry(branch, keys=keys) for branch in place.before()),
        )

    def describe_use(self, step: Deduplicate, use: StateUse) -> plan.Use:
        return plan.Use(step.id)

    def facts(self, step: Deduplicate, graph: OperatorGraph) -> Iterator[Fact]:
        keys = [(key.name, key.value.type) for key in step.keys]
        yield Fact("keys", (", ".join(f"{name} {type_}" for name, type_ in keys),))
        yield from behind(graph, step)
        yield Fact("state", (f"{row_size(keys) + number_size(1)} for each key: when it expires",))
        end = EXAMPLE + step.within.micros
        forgotten = (
            f"a key is forgotten {step.within} after its row. That of a row of {instant(EXAMPLE)}"
        )
        yield Fact(
            "bound",
            (
                f"the watermark: {forgotten} is forgotten at the watermark {instant(end)}:",
                *when(graph, step, end),
            ),
        )
        yield Fact("comes out", ("the first row of a key at once",))
        yield Fact("late", (LATE,))

    def changes(self, step: Deduplicate) -> bool:
        return False

    def lag(self, step: Deduplicate) -> None:
        return None

    def gives_old_rows(self, step: Deduplicate) -> bool:
        return False

    def by_query_watermark(self, step: Deduplicate) -> bool:
        return False

    def refused(self, step: Deduplicate, relation: Relation, below: Schema) -> Iterator[Diagnostic]:
        """Yield a second event time: Spark chooses that of a deduplication by itself."""
        times = below.event_times()
        if len(times) > 1:
            names = " and ".join(f"`{field.name}`" for field in times)
            yield Diagnostic(
                codes.DISTINCT_ON_FORM,
                f"DISTINCT ON needs one event time, and its input has {names}",
                Label(relation.span),
                help="select only one of them in a stream before",
            )
