"""A step as calls on the DataFrame before it; one function for each class of step.

``calls`` is the one dispatch: a class without a function is a fault of the compiler. Steps that
begin a relation of several inputs (joins, unions) are in modules of their own.
"""

from __future__ import annotations

from functools import singledispatch

from ...dsl.ast import expressions as e
from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from ..model.steps import (
    Aggregate,
    AssignWindow,
    Deduplicate,
    Filter,
    Key,
    Project,
    Step,
    TopN,
    Window,
)
from . import columns, top_n
from .layout import Call
from .literals import quoted

_NOTHING = 'F.count(F.lit(1)).alias("rows__")'
"""``agg`` wants one where GROUP BY has keys alone; no column takes it, so Spark drops it."""


@singledispatch
def calls(step: Step) -> tuple[Call, ...]:
    """Return the calls that a step is."""
    raise InternalError(f"no handler for {type(step).__name__}")


@calls.register
def emit_filter(step: Filter) -> tuple[Call, ...]:
    """Write WHERE and HAVING."""
    return (Call("where", (columns.condition(step.condition.expression),)),)


@calls.register
def emit_project(step: Project) -> tuple[Call, ...]:
    """Write a select list."""
    return (Call("select", tuple(columns.output(c) for c in step.columns), open=True),)


@calls.register
def emit_assign_window(step: AssignWindow) -> tuple[Call, ...]:
    """Write a window that is used row by row."""
    return (Call("withColumn", (quoted(step.window.struct), window(step.window))),)


@calls.register
def emit_aggregate(step: Aggregate) -> tuple[Call, ...]:
    """Write GROUP BY with its aggregates."""
    keys = tuple(key(k) for k in step.keys)
    if step.window is not None:
        keys = (window(step.window), *keys)
    found = tuple(columns.output(c) for c in step.columns) or (_NOTHING,)
    return (Call("groupBy", keys), Call("agg", found, open=True))


@calls.register
def emit_deduplicate(step: Deduplicate) -> tuple[Call, ...]:
    """Write DISTINCT ON."""
    keys = ", ".join(quoted(k.name) for k in step.keys)
    return (Call("dropDuplicatesWithinWatermark", (f"[{keys}]",)),)


@calls.register
def emit_top_n(step: TopN) -> tuple[Call, ...]:
    """Write the top of each closed window."""
    return top_n.calls(step)


def window(step: Window) -> str:
    """Return the window function of a grouping."""
    time = columns.argument(step.column.expression)
    if step.kind == "session":
        return f"F.session_window({time}, {quoted(step.size.text)})"
    lengths = [quoted(step.size.text)]
    if step.slide is not None:
        lengths.append(quoted(step.slide.text))
    return f"F.window({time}, {', '.join(lengths)})"


def key(item: Key) -> str:
    """Return a grouping key under the name that it has afterwards."""
    expression = item.value.expression
    if isinstance(expression, e.ColumnRef) and expression.parts[-1].text == item.name:
        return quoted(columns.path(expression))
    text = columns.value(expression)
    return text if sql(expression) == item.name else f"{text}.alias({quoted(item.name)})"
