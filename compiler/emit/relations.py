"""A relation as one paragraph: a comment that says what it does, and one assignment."""

from __future__ import annotations

from ...dsl.format.words import identifier
from ..model.pipeline import Relation
from ..model.programs import Operator
from ..model.steps import AssignWindow, Join, JoinSide, SideRows, Step, Union
from ..pyspark import columns
from ..pyspark.layout import Call, Chain, assignment
from ..pyspark.literals import quoted
from . import programs
from .describe import describe
from .endpoints import unfiltered
from .steps import calls, on


def emit_relation(relation: Relation) -> list[str]:
    """Return the lines of a relation's paragraph."""
    comment = f"    # {relation.name}: {describe(relation)}"
    return [comment, *assignment(relation.name, chain(relation))]


def chain(relation: Relation) -> Chain:
    """Return the DataFrame of a relation."""
    return _chain(relation.inputs, relation.steps)


def _chain(inputs: tuple[str, ...], steps: tuple[Step, ...]) -> Chain:
    last = max((i for i, step in enumerate(steps) if isinstance(step, Operator)), default=None)
    if last is not None:
        return Chain(_program(inputs, steps[:last], steps[last]), _calls(steps[last + 1 :]))
    first = steps[0] if steps else None
    match first:
        case Join():
            return Chain(*_join(first, steps[1:]))
        case Union():
            return Chain(*_union(first, steps[1:]))
        case SideRows():
            return _side_rows(first)
    return Chain(inputs[0], _calls(steps))


def _program(inputs: tuple[str, ...], before: tuple[Step, ...], step: Step) -> Call:
    """Return an operator's call: over its inputs, or over the steps that stand before it."""
    assert isinstance(step, Operator)
    if before:
        return programs.operator(step, [_chain(inputs, before)])
    return programs.operator(step, [Chain(given.relation) for given in step.inputs])


def _side_rows(step: SideRows) -> Chain:
    if step.condition is None:
        return Chain(Call("job.malformed_rows", (quoted(step.source),)))
    condition = columns.condition(step.condition.expression)
    return Chain(unfiltered(step.source), (Call("where", (condition,)),))


def _calls(steps: tuple[Step, ...]) -> tuple[Call, ...]:
    return tuple(call for step in steps for call in calls(step))


def _join(step: Join, rest: tuple[Step, ...]) -> tuple[str, tuple[Call, ...]]:
    condition = on(step.condition.expression)
    arguments = (Chain(*_side(step.right)).text(), condition, quoted(step.join))
    relation, before = _side(step.left)
    return relation, (*before, Call("join", arguments, open=True), *_calls(rest))


def _side(side: JoinSide) -> tuple[str, tuple[Call, ...]]:
    before: tuple[Call, ...] = ()
    if side.window is not None:
        before = calls(AssignWindow(side.window))
    elif side.may_lack_time and side.event_time is not None:
        before = (Call("where", (quoted(f"{identifier(side.event_time)} IS NOT NULL"),)),)
    return side.relation, (*before, Call("alias", (quoted(side.alias),)))


def _union(step: Union, rest: tuple[Step, ...]) -> tuple[str, tuple[Call, ...]]:
    first, *others = step.branches
    unions = tuple(
        Call("union", (Chain(b.input, _calls(b.steps)).text(),), open=True) for b in others
    )
    return first.input, (*_calls(first.steps), *unions, *_calls(rest))
