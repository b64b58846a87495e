"""The kind of programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....contracts import plan
from ....dsl.ast.expressions import Expression
from ...model.graph import OperatorGraph, StateUse
from ...model.pipeline import Relation
from ...model.programs import Operator, Panes, columns_used, expressions, statements
from ...model.schema import Schema
from ...model.steps import AssignWindow, Step
from ...pyspark.layout import Chain
from ..entries import kept_columns
from ..facts.fact import Fact
from ..kind import OperatorKind, RootKind, RowKind
from ..rows.columns import Columns, ColumnsOf, columns_of
from ..rows.identity import Identity, by_columns
from ..rows.needed import Demand, Feed, named
from ..rows.origins import Branch, Branches, Place, Upstream, by_name
from ..windows import window_words
from .entry import program_entry
from .facts import program_facts
from .script import operator_call
from .text import operator_lines


class ProgramKind(RowKind[Operator], RootKind[Operator], OperatorKind[Operator]):
    """A program: over inputs of its own if it begins a relation, else over rows."""

    step = Operator
    noun = "an operator"
    appends = True
    in_rocksdb = True

    def lines(self, step: Operator) -> Iterable[str]:
        return operator_lines(step)

    def words(self, step: Operator) -> str:
        if step.panes is not None:
            return _panes_words(step.panes, [key.name for key in step.keys[:-1]])
        by = f" for each {', '.join(key.name for key in step.keys)}" if step.keys else ""
        what = "program" if step.python is None else "class in Python"
        return f"{what}{by}{', in event-time order' if step.ordered else ''}"

    def reads(self, step: Operator, heads: frozenset[str]) -> Iterator[Expression]:
        for given in step.inputs:
            yield from (key.expression for key in given.keys)
        for handler in step.handlers:
            for statement in statements(handler.body):
                yield from (typed.expression for typed in expressions(statement))

    def windows(self, step: Operator) -> tuple[()]:
        """Return none: the rows of panes already have their window."""
        return ()

    def identity(self, step: Operator, before: Identity | None) -> Identity | None:
        if step.panes is None:
            return None
        known = by_columns(key.name for key in step.keys)
        return Identity(known.parts, (*known.words[:-1], "window_start"))

    def script(self, step: Operator, rows: Chain) -> Chain:
        return Chain(operator_call(step, [rows]))

    def columns(self, step: Operator, before: Columns) -> Columns:
        return columns_of(step.returns)

    def needs(self, step: Operator, demand: Demand) -> Demand:
        """Return what a program reads: its state is as declared, whoever reads its rows."""
        (only,) = step.inputs
        return Demand(named(columns_used(step, only)))

    def branches(self, step: Operator, before: Branches) -> Branches:
        return (Branch(step.id, (), by_name(step.returns.names())),)

    def frame(self, step: Operator) -> Chain:
        return Chain(operator_call(step, [Chain(given.relation) for given in step.inputs]))

    def feeds(self, step: Operator, demand: Demand, of: ColumnsOf) -> Iterator[Feed]:
        for given in step.inputs:
            yield Feed(given.relation, Demand(named(columns_used(step, given))))

    def own_columns(self, step: Operator, relation: Relation, upstream: Upstream) -> Columns:
        return columns_of(step.returns)

    def own_branches(self, step: Operator, relation: Relation, upstream: Upstream) -> Branches:
        return self.branches(step, ())

    def says(self, step: Operator) -> tuple[type[Step], ...]:
        return () if step.panes is None else (AssignWindow,)

    def use(self, step: Operator, demand: Demand) -> StateUse:
        waiting = [columns_used(step, given) for given in step.inputs] if step.ordered else []
        return StateUse(step, columns=tuple(waiting))

    def kept(self, step: Operator, use: StateUse) -> Iterator[tuple[str, tuple[str, ...]]]:
        waiting = zip(step.inputs, use.columns, strict=step.ordered)
        return ((f"waiting rows of {given.alias}", columns) for given, columns in waiting)

    def describe(self, step: Operator, place: Place) -> plan.Program:
        """Return a program's entry, without the windows that its rows are in."""
        inputs = [
            place.of(given.relation) if place.begins else place.before(without=(AssignWindow,))
            for given in step.inputs
        ]
        return program_entry(step, place, tuple(inputs))

    def describe_use(self, step: Operator, use: StateUse) -> plan.Use:
        if not step.ordered:
            return plan.Use(step.id)
        waiting = zip(step.inputs, use.columns, strict=True)
        return plan.Use(
            step.id, waiting={g.alias: kept_columns(g.schema, names) for g, names in waiting}
        )

    def facts(self, step: Operator, graph: OperatorGraph) -> Iterator[Fact]:
        return program_facts(step, graph)

    def changes(self, step: Operator) -> bool:
        return False

    def lag(self, step: Operator) -> None:
        return None

    def gives_old_rows(self, step: Operator) -> bool:
        return False

    def by_query_watermark(self, step: Operator) -> bool:
        return step.panes is not None

    def refused(self, step: Operator, relation: Relation, below: Schema) -> tuple[()]:
        return ()


def _panes_words(panes: Panes, keys: list[str]) -> str:
    by = f" by {', '.join(keys)}" if keys else ""
    words = f"panes of {window_words(panes.window)}{by}"
    if panes.early is not None:
        words += f", early every {panes.early}"
    return words + (f", late for {panes.lateness}" if panes.lateness is not None else "")
