"""What distinguishes the rows of a relation, starting at its sources; unknown for a union."""

from __future__ import annotations

from ..model.pipeline import Relation
from ..operators.registry import kind_of
from ..operators.rows.identity import Identity


def identity(name: str, relations: dict[str, Relation]) -> Identity | None:
    """Return the identity of a relation's rows, None if it is unknown."""
    relation = relations.get(name)
    if relation is None or len(relation.inputs) != 1 or not relation.steps:
        return None
    found = identity(relation.inputs[0], relations)
    for step in relation.steps:
        found = kind_of(step).identity(step, found)
    return found
