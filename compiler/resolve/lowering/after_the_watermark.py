"""DISTINCT ON … WITHIN over rows that come out when the watermark passes them.

Of a source a row is late that the watermark has passed, since its id may have been forgotten. Rows
of a window, an ordered program or a join without a partner come out when it does: all of them would
be late. Their ids were forgotten by the watermark of an epoch before, which had not passed them, so
a row that is given is never one that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....dsl.walk import walk
from ...model import programs as m
from ...model.conditions import conjuncts
from ...model.pipeline import Relation
from ...model.programs import Operator
from ...model.reads import WatermarkCall
from ...model.steps import Stateful, Step
from . import builders as parts


def with_rows_that_were_given(relations: Sequence[Relation]) -> list[Relation]:
    """Return relations in which no id of an operator's rows is left out for being late."""
    known = {relation.name: relation for relation in relations}
    return [
        replace(relation, steps=_steps(relation.steps))
        if any(map(_asks, relation.steps)) and _is_given(relation.inputs, known)
        else relation
        for relation in relations
    ]


def _is_given(inputs: Sequence[str], known: Mapping[str, Relation]) -> bool:
    """Whether some operator is below."""
    below = [known[name] for name in inputs if name in known]
    return any(
        any(isinstance(step, Stateful) for step in relation.steps)
        or _is_given(relation.inputs, known)
        for relation in below
    )


def _asks(step: Step) -> bool:
    return isinstance(step, Operator) and not step.declared and any(map(_told, step.handlers))


def _told(handler: m.Handler) -> bool:
    """Whether a handler is one statement that asks for the watermark."""
    match handler.body:
        case (m.If((m.IfBranch(condition, _),), ()),):
            return any(isinstance(node, WatermarkCall) for node in walk(condition.expression))
    return False


def _steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(
        replace(step, handlers=tuple(map(_handler, step.handlers)))
        if isinstance(step, Operator) and _asks(step)
        else step
        for step in steps
    )


def _handler(handler: m.Handler) -> m.Handler:
    if not _told(handler):
        return handler
    (statement,) = handler.body
    assert isinstance(statement, m.If)
    (branch,) = statement.branches
    kept = [
        part
        for part in conjuncts(branch.condition.expression)
        if not any(isinstance(node, WatermarkCall) for node in walk(part))
    ]
    condition = parts.all_of(kept)
    assert condition is not None
    body = replace(statement, branches=(replace(branch, condition=condition),))
    return replace(handler, body=(body,))
