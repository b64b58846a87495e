"""A step as calls on the DataFrame before it; one function for each class of step.

``calls`` is the one dispatch: a class without a function is a fault of the compiler. Steps that
begin a relation of several inputs (joins, unions) are in modules of their own.
"""

from __future__ import annotations

from functools import singledispatch

from ...dsl.ast import expressions as e
from ...dsl.diagnostics import InternalError
from ..model.steps import (
    Aggregate,
    AssignWindow,
    Deduplicate,
    EveryRow,
    Filter,
    Key,
    LateRows,
    Lookup,
    Project,
    Step,
    TopN,
    Window,
)
from ..pyspark import columns
from ..pyspark.layout import Call
from ..pyspark.literals import quoted
from . import top_n

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
def emit_late_rows(step: LateRows) -> tuple[Call, ...]:
    """Write the rows that an operator drops."""
    arguments = ["job.late_rows", quoted(step.time)]
    window, after = step.window, step.lateness
    if window is not None and window.kind == "session":
        after = window.size
    elif window is not None:
        arguments.append(f"window={quoted(window.size.text)}")
        if window.kind == "hop" and window.slide is not None:
            arguments.append(f"every={quoted(window.slide.text)}")
        if window.offset is not None:
            arguments.append(f"offset={quoted(window.offset.text)}")
    if after is not None:
        arguments.append(f"after={quoted(after.text)}")
    return (Call("transform", tuple(arguments)),)


@calls.register
def emit_every_row(step: EveryRow) -> tuple[Call, ...]:
    """Write that no filter behind an aggregate may keep its rows from moving the watermark."""
    return (Call("transform", ("job.every_row",)),)


@calls.register
def emit_assign_window(step: AssignWindow) -> tuple[Call, ...]:
    """Write a window that is used row by row."""
    if step.window.kind == "cumulate":
        return before(step.window)
    assign = Call("withColumn", (quoted(step.window.struct), window(step.window)))
    return (*before(step.window), assign)


@calls.register
def emit_aggregate(step: Aggregate) -> tuple[Call, ...]:
    """Write GROUP BY with its aggregates."""
    keys = tuple(key(k) for k in step.keys)
    if step.window is not None:
        keys = (window(step.window), *keys)
    found = tuple(columns.output(c) for c in step.columns) or (_NOTHING,)
    prepared = before(step.window) if step.window is not None else ()
    return (*prepared, Call("groupBy", keys), Call("agg", found, open=True))


@calls.register
def emit_lookup(step: Lookup) -> tuple[Call, ...]:
    """Write a join with a table."""
    arguments = (
        f"{step.table}.alias({quoted(step.alias)})",
        on(step.condition.expression),
        quoted(step.join),
    )
    alias = () if step.left is None else (Call("alias", (quoted(step.left),)),)
    return (*alias, Call("join", arguments, open=True))


def on(expression: e.Expression) -> str:
    """Return the condition of a join; each part that AND holds together is a line."""
    condition = columns.condition(expression)
    if "\n" not in condition:
        return f"F.expr({condition})"
    inner = "\n".join(f"    {line}" for line in condition.split("\n"))
    return f"F.expr(\n{inner}\n)"


@calls.register
def emit_deduplicate(step: Deduplicate) -> tuple[Call, ...]:
    """Write DISTINCT ON."""
    keys = ", ".join(quoted(k.name) for k in step.keys)
    return (Call("dropDuplicatesWithinWatermark", (f"[{keys}]",)),)


@calls.register
def emit_top_n(step: TopN) -> tuple[Call, ...]:
    """Write the top of each closed window."""
    return top_n.calls(step)


def before(step: Window) -> tuple[Call, ...]:
    """Return the calls that a window needs before rows are grouped by it.

    A processing time becomes an event time without delay; what Spark has no function for is a
    column by then.
    """
    time = columns.argument(step.column.expression)
    calls: list[Call] = []
    if step.processing:
        calls.append(Call("withWatermark", (time, quoted("0 seconds"))))
    if step.kind == "cumulate":
        assert step.slide is not None
        arguments = ["cumulate", time, f"step={quoted(step.slide.text)}"]
        arguments.append(f"size={quoted(step.size.text)}")
        if step.offset is not None:
            arguments.append(f"offset={quoted(step.offset.text)}")
        calls.append(Call("transform", tuple(arguments)))
    return tuple(calls)


def window(step: Window) -> str:
    """Return the window of a grouping: a function, or the column that ``before`` has made."""
    time = columns.argument(step.column.expression)
    match step.kind:
        case "session":
            return f"F.session_window({time}, {quoted(step.size.text)})"
        case "cumulate":
            return quoted(step.struct)
    lengths = [step.size.text]
    if step.slide is not None:
        lengths.append(step.slide.text)
    elif step.offset is not None:
        lengths.append(step.size.text)
    if step.offset is not None:
        lengths.append(step.offset.text)
    return f"F.window({', '.join([time, *map(quoted, lengths)])})"


def key(item: Key) -> str:
    """Return a grouping key under the name that it has afterwards.

    An expression always gets it: the one that Spark would give is not ours, `(v % 3)` for `v % 3`.
    """
    expression = item.value.expression
    if isinstance(expression, e.ColumnRef) and expression.parts[-1].text == item.name:
        return quoted(columns.path(expression))
    return f"{columns.value(expression)}.alias({quoted(item.name)})"
