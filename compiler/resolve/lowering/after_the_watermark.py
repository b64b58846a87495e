"""DISTINCT ON … WITHIN over rows that are emitted when the watermark passes them.

A source's row is late once the watermark has passed it, since its id may have been forgotten. Rows
of a window, of an ordered program, or without a partner in a join are emitted at that moment: all
would be late. Ids are forgotten by the watermark of an earlier epoch, which had not passed these
rows, so no emitted row is one whose id was forgotten.
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


def accepting_emitted_rows(relations: Sequence[Relation]) -> list[Relation]:
    """Return relations in which no id of an operator's rows is dropped for being late."""
    known = {relation.name: relation for relation in relations}
    return [
        replace(relation, steps=_steps(relation.steps))
        if any(map(_drops_late_ids, relation.steps)) and _has_operator_below(relation.inputs, known)
        else relation
        for relation in relations
    ]


def _has_operator_below(inputs: Sequence[str], known: Mapping[str, Relation]) -> bool:
    """Whether some operator is below."""
    below = [known[name] for name in inputs if name in known]
    return any(
        any(isinstance(step, Stateful) for step in relation.steps)
        or _has_operator_below(relation.inputs, known)
        for relation in below
    )


def _drops_late_ids(step: Step) -> bool:
    return (
        isinstance(step, Operator)
        and not step.declared
        and any(map(_tests_watermark, step.handlers))
    )


def _tests_watermark(handler: m.Handler) -> bool:
    """Whether a handler is one statement that tests the watermark."""
    match handler.body:
        case (m.If((m.IfBranch(condition, _),), ()),):
            return any(isinstance(node, WatermarkCall) for node in walk(condition.expression))
    return False


def _steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(
        replace(step, handlers=tuple(map(_handler, step.handlers)))
        if isinstance(step, Operator) and _drops_late_ids(step)
        else step
        for step in steps
    )


def _handler(handler: m.Handler) -> m.Handler:
    if not _tests_watermark(handler):
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
