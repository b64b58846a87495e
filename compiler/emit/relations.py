"""A relation as one paragraph: a comment that says what it does, and one assignment."""

from __future__ import annotations

from ..model.pipeline import Relation
from ..model.steps import Stateful, Step
from ..operators.registry import kind_of, operator_kind
from ..operators.relation import frame_of
from ..pyspark.layout import Chain, assignment
from .helper_columns import readable


def emit_relation(relation: Relation) -> list[str]:
    """Return the lines of a relation's paragraph."""
    comment = f"    # {relation.name}: {describe(relation)}"
    return [comment, *assignment(relation.name, chain(relation))]


def describe(relation: Relation) -> str:
    """Return the words for a relation; they mention state that is kept under another id."""
    stateful = [step for step in relation.steps if isinstance(step, Stateful)]
    said = [other for step in stateful for other in operator_kind(step).says(step)]
    words = [_words(step) for step in relation.steps if type(step) not in said]
    kept = [step.id for step in stateful if step.id != relation.name]
    text = ", ".join(dict.fromkeys(filter(None, words))) or f"columns of {relation.inputs[0]}"
    return f"{text} (state: {', '.join(kept)})" if kept else text


def _words(step: Step) -> str:
    return kind_of(step).words(step)


def chain(relation: Relation) -> Chain:
    """Return the DataFrame of a relation."""
    return frame_of(relation.inputs[0], readable(relation))
