"""What a relation does, in a few words: the comment above its paragraph."""

from __future__ import annotations

from functools import singledispatch

from ...dsl.diagnostics import InternalError
from ..model.pipeline import Relation
from ..model.programs import Operator, Panes
from ..model.steps import (
    Aggregate,
    AssignWindow,
    Deduplicate,
    EveryRow,
    Filter,
    Join,
    LateRows,
    Lookup,
    Project,
    SideRows,
    Stateful,
    Step,
    TopN,
    Union,
    Window,
)


def describe(relation: Relation) -> str:
    """Return the words for a relation; state that is kept under another id is said to be."""
    paned = any(isinstance(s, Operator) and s.panes is not None for s in relation.steps)
    # The window of panes is said with them.
    steps = [s for s in relation.steps if not (paned and isinstance(s, AssignWindow))]
    words = [text for step in steps if (text := say(step))]
    kept = [s.id for s in relation.steps if isinstance(s, Stateful) and s.id != relation.name]
    text = ", ".join(dict.fromkeys(words)) or f"columns of {relation.inputs[0]}"
    return f"{text} (state: {', '.join(kept)})" if kept else text


@singledispatch
def say(step: Step) -> str:
    """Return the words for a step, none for one that says nothing."""
    raise InternalError(f"no words for {type(step).__name__}")


@say.register
def say_side_rows(step: SideRows) -> str:
    """Say which rows a side stream has."""
    if step.policy == "malformed":
        return f"malformed rows of {step.source}"
    return f"rows of {step.source} that are ahead of the clock"


@say.register
def say_filter(step: Filter) -> str:
    """Say WHERE or HAVING."""
    return "filter"


@say.register
def say_project(step: Project) -> str:
    """Say nothing of a select list: it is there to be read."""
    return ""


@say.register
def say_late_rows(step: LateRows) -> str:
    """Say which rows are late."""
    return f"late rows of {step.operator}"


@say.register
def say_every_row(step: EveryRow) -> str:
    """Say nothing: it takes no row away."""
    return ""


@say.register
def say_assign_window(step: AssignWindow) -> str:
    """Say a window that is used row by row."""
    return f"{window_words(step.window)} of each row"


@say.register
def say_aggregate(step: Aggregate) -> str:
    """Say GROUP BY."""
    groups = window_words(step.window) if step.window is not None else "groups"
    by = f" by {', '.join(k.name for k in step.keys)}" if step.keys else ""
    if step.window is None and not step.keys:
        groups = "one group of all rows"
    return f"{groups}{by}{', each change' if step.changes else ''}"


@say.register
def say_join(step: Join) -> str:
    """Say a join."""
    sides = f"{step.left.relation} and {step.right.relation}"
    if step.left.window is not None:
        return f"{step.join} join of {sides} in {window_words(step.left.window)}"
    return f"{step.join} interval join of {sides}"


@say.register
def say_lookup(step: Lookup) -> str:
    """Say a lookup."""
    return f"{step.join} lookup in {step.table}"


@say.register
def say_deduplicate(step: Deduplicate) -> str:
    """Say DISTINCT ON."""
    return f"first row of each {', '.join(k.name for k in step.keys)} within {step.within}"


@say.register
def say_top_n(step: TopN) -> str:
    """Say QUALIFY."""
    order = ", ".join(f"{o.column}{' descending' if o.descending else ''}" for o in step.order)
    return f"top {step.limit} by {order}"


@say.register
def say_program(step: Operator) -> str:
    """Say an operator."""
    if step.panes is not None:
        return _panes_words(step.panes, [key.name for key in step.keys[:-1]])
    by = f" for each {', '.join(key.name for key in step.keys)}" if step.keys else ""
    what = "program" if step.python is None else "class in Python"
    return f"{what}{by}{', in event-time order' if step.ordered else ''}"


def _panes_words(panes: Panes, keys: list[str]) -> str:
    by = f" by {', '.join(keys)}" if keys else ""
    words = f"panes of {window_words(panes.window)}{by}"
    if panes.early is not None:
        words += f", early every {panes.early}"
    return words + (f", late for {panes.lateness}" if panes.lateness is not None else "")


@say.register
def say_union(step: Union) -> str:
    """Say UNION ALL."""
    late = [one for b in step.branches for one in b.steps if isinstance(one, LateRows)]
    if late:
        return say(late[0])
    return f"union of {', '.join(b.input for b in step.branches)}"


def window_words(window: Window) -> str:
    """Return the words for a window."""
    match window.kind:
        case "session":
            words = f"sessions with a gap of {window.size}"
        case "hop":
            words = f"hopping windows of {window.size} every {window.slide}"
        case "cumulate":
            words = f"windows that grow by {window.slide} to {window.size}"
        case _:
            words = f"tumbling windows of {window.size}"
    if window.offset is not None:
        words += f" offset by {window.offset}"
    return f"{words} of processing time" if window.processing else words
