"""ON LATE ROWS SEND TO: the rows that an operator drops, as a relation of their own.

    CREATE STREAM hourly AS SELECT … FROM TUMBLE(orders, ts, INTERVAL 1 HOUR) WHERE amount > 0 …
      ON LATE ROWS SEND TO late

    late     orders, filter amount > 0, late rows of hourly

They are determined in a query of their own, by the operator's watermark. So the operator's input
may not come from another one, see ``compiler.checks.late_rows``.
"""

from __future__ import annotations

from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.pipeline import Relation
from ...model.programs import Operator
from ...model.schema import Field, Schema
from ...model.steps import (
    WATERMARK,
    Aggregate,
    AssignWindow,
    Branch,
    Deduplicate,
    EveryRow,
    LateRows,
    Stateful,
    Step,
    Union,
    late_steps,
)
from ..foreign.not_built import not_built
from ..scopes.relation_builder import Chain


def is_late(relation: Relation) -> bool:
    """Return whether a relation is the late rows of something."""
    return any(True for _ in late_steps(relation.steps))


def add_late_rows(
    node: q.LateRows, name: Name, chain: Chain, before: int, schema: Schema | None
) -> None:
    """Add the late rows of a block to the relations of its stream, or report why there are none.

    The block's own relations are those after the first ``before`` ones, and then the chain.
    ``schema`` are the columns that it reads, None if it joins.
    """
    context = chain.context
    found = None if schema is None else _first_stateful(chain, before)
    problem = _joined(node.span) if schema is None else _unsent(node.span, found)
    late = None
    if problem is None and schema is not None and found is not None:
        late = _step(found.step, context.stream, schema)
    if problem is not None or schema is None or found is None or late is None:
        context.diagnostics.add(problem or _never(node.span))
        return
    kept = tuple(step for step in found.steps if not isinstance(step, AssignWindow | EveryRow))
    columns = _columns(schema, node.span, context.diagnostics)
    context.relations.insert(before, _relation(name, found.inputs, (*kept, late), columns))


@dataclass(frozen=True, slots=True)
class _Found:
    """A stateful step, and the relations and steps before it."""

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    step: Stateful


def _first_stateful(chain: Chain, before: int) -> _Found | None:
    parts = [(r.inputs, r.steps) for r in chain.context.relations[before:]]
    parts.append((chain.inputs, tuple(chain.steps)))
    for inputs, steps in parts:
        for place, step in enumerate(steps):
            if isinstance(step, Stateful):
                return _Found(inputs, steps[:place], step)
    return None


def _unsent(span: Span, found: _Found | None) -> Diagnostic | None:
    """Return why the late rows of a step can't be determined, if its kind has none."""
    if found is None:
        return _never(span)
    if not isinstance(found.step, Operator | Aggregate | Deduplicate):
        return _closed_already(span)
    if isinstance(found.step, Operator) and _by_itself(found.step):
        return not_built("ON LATE ROWS SEND TO of DISTINCT ON … WITHIN", span)
    return None


def late_of_operator(name: Name, relation: Relation, diagnostics: Diagnostics) -> Relation | None:
    """Return the late rows of a CREATE OPERATOR, from all of its inputs."""
    step = relation.steps[0]
    assert isinstance(step, Operator)
    branches = []
    for given in step.inputs:
        assert given.event_time is not None
        late = LateRows(relation.name, given.event_time)
        branches.append(Branch(given.relation, (late,)))
    columns = _columns(step.inputs[0].schema, name.span, diagnostics)
    if len(branches) == 1:
        return _relation(name, relation.inputs, branches[0].steps, columns)
    return _relation(name, relation.inputs, (Union(tuple(branches)),), columns)


def _relation(
    name: Name, inputs: tuple[str, ...], steps: tuple[Step, ...], schema: Schema
) -> Relation:
    called = (name.text, name.text, name.text)
    return Relation(*called, inputs, steps, schema, changes=False, above_state=True, span=name.span)


def _columns(schema: Schema, span: Span, diagnostics: Diagnostics) -> Schema:
    """Return the columns of late rows: being behind the watermark, they have no event time."""
    taken = schema.find(WATERMARK)
    if taken is not None:
        diagnostics.add(_taken(span))
    fields = tuple(replace(field, watermark=None, of_window=False) for field in schema)
    return Schema((*fields, Field(WATERMARK, t.TIMESTAMP, nullable=False)))


def _by_itself(step: Operator) -> bool:
    """Return whether a program drops late rows itself."""
    return not step.ordered and step.panes is None


def _step(step: Stateful, stream: str, schema: Schema) -> LateRows | None:
    """Return which rows are late for a step, None if there are none."""
    match step:
        case Operator(panes=panes) if panes is not None:
            time = _name(panes.window.column.expression)
            return (
                None
                if panes.window.processing
                else LateRows(stream, time, panes.window, panes.lateness)
            )
        case Operator(inputs=(given, *_)) if given.event_time is not None:
            return LateRows(stream, given.event_time)
        case Deduplicate():
            return LateRows(stream, schema.event_times()[0].name)
        case Aggregate(window=window) if window is not None:
            time = _name(window.column.expression)
            return None if window.processing else LateRows(stream, time, window)
        case Aggregate(changes=False, keys=keys):
            times = {field.name for field in schema.event_times()}
            names = [_name(key.value.expression) for key in keys]
            time = next((name for name in names if name in times), "")
            return LateRows(stream, time) if time else None
    return None


def _name(expression: e.Expression) -> str:
    return expression.parts[-1].text if isinstance(expression, e.ColumnRef) else ""


def _never(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.LATE_ROWS_FORM,
        "no row can be late here: no step uses the watermark of an event time",
        Label(span),
        help="remove ON LATE ROWS",
    )


def _closed_already(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.LATE_ROWS_FORM,
        "no row can be late here: the rows of a closed window arrive when it closes",
        Label(span),
        help="write ON LATE ROWS where the window is aggregated",
    )


def _joined(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.LATE_ROWS_FORM,
        "late rows of several relations would go to one stream, but their columns differ",
        Label(span),
        help=(
            "put the join in a separate stream, and write ON LATE ROWS where a single "
            "relation is read"
        ),
    )


def _taken(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.LATE_ROWS_FORM,
        f"late rows get a column `{WATERMARK}`, but these rows already have one",
        Label(span),
        help=f"rename theirs in an earlier stream, as in `{WATERMARK} AS mark`",
    )
