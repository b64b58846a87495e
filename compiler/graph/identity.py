"""What tells the rows of a relation apart: the columns that no two of its rows share.

A row of an aggregate is known by its keys and its window. A projection may lose that, a filter
does not; of joins, unions and sources nothing is known.
"""

from __future__ import annotations

from ...dsl.ast import expressions as e
from ...dsl.records import dataclass
from ..model.pipeline import Relation
from ..model.programs import Operator
from ..model.steps import WINDOW_STRUCTS, Aggregate, Deduplicate, Filter, Project, Step, TopN

_LITERALS = (e.BooleanLiteral, e.NumberLiteral, e.StringLiteral, e.TypedLiteral)


@dataclass(frozen=True, slots=True)
class Identity:
    """Parts of a row's identity, each with the columns that hold it: any one of them will do.

    A part without columns was projected away. ``constants`` are the same in all rows. ``words``
    name the parts as a user knows them.
    """

    parts: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    constants: frozenset[str] = frozenset()


def identity(name: str, relations: dict[str, Relation]) -> Identity | None:
    """Return the identity of a relation's rows, None if nothing is known of it."""
    relation = relations.get(name)
    if relation is None or len(relation.inputs) != 1:
        return None
    found = None
    if relation.steps and not isinstance(relation.steps[0], Aggregate | Deduplicate):
        found = identity(relation.inputs[0], relations)
    for step in relation.steps:
        found = _after(step, found)
    return found


def _after(step: Step, before: Identity | None) -> Identity | None:
    match step:
        case Aggregate():
            parts = [frozenset({key.name}) for key in step.keys]
            words = [key.name for key in step.keys]
            if step.window is not None:
                parts.append(frozenset(WINDOW_STRUCTS))
                words.append("window_start")
            return Identity(tuple(parts), tuple(words))
        case Operator() if step.panes is not None:
            *names, window = [key.name for key in step.keys]
            parts = [frozenset({name}) for name in (*names, window)]
            return Identity(tuple(parts), (*names, "window_start"))
        case Deduplicate():
            names = [key.name for key in step.keys]
            return Identity(tuple(frozenset({name}) for name in names), tuple(names))
        case Filter():
            return before
        case Project() if before is not None:
            return _projected(step, before)
        case TopN() if before is not None:
            kept = tuple(part & frozenset(step.output) for part in before.parts)
            return Identity(kept, before.words, before.constants & frozenset(step.output))
    return None


def _projected(step: Project, before: Identity) -> Identity:
    constants = {c.name for c in step.columns if isinstance(c.value.expression, _LITERALS)}
    heads = {c.name: _column_of(c.value.expression) for c in step.columns}
    constants |= {name for name, head in heads.items() if head in before.constants}
    parts = tuple(
        frozenset(name for name, head in heads.items() if head in part) for part in before.parts
    )
    return Identity(parts, before.words, frozenset(constants))


def _column_of(expression: e.Expression) -> str | None:
    """Return the column that an expression passes on; start, end and time stand for a window."""
    match expression:
        case e.ColumnRef(_, (only,)):
            return only.text
        case e.ColumnRef(_, (head, _)) if head.text in WINDOW_STRUCTS:
            return head.text
        case e.Call() if expression.name.text == "window_time":
            argument = expression.arguments[0]
            return _column_of(argument) if isinstance(argument, e.Expression) else None
    return None
