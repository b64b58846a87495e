"""Windows, for the kinds that open them: in words, in the script, in the plan."""

from __future__ import annotations

from ...contracts import plan
from ...dsl.ast.expressions import ColumnRef
from ...dsl.format import sql
from ..model import types
from ..model.steps import Window
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted

STRUCT = types.Struct((types.Field("start", types.TIMESTAMP), types.Field("end", types.TIMESTAMP)))
"""The type of the column in which Spark keeps a window."""


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


def assigned(window: Window, rows: Chain) -> Chain:
    """Return each row with its window, once for each of its windows."""
    rows = prepared(window, rows)
    if window.kind == "cumulate":
        return rows
    return rows.then(Call("withColumn", (quoted(window.struct), grouping(window))))


def prepared(window: Window, rows: Chain) -> Chain:
    """Return rows prepared for grouping by a window.

    A processing time becomes an event time without delay; a window without a Spark function becomes
    a column.
    """
    time = columns.argument(window.column.expression)
    if window.processing:
        rows = rows.then(Call("withWatermark", (time, quoted("0 seconds"))))
    if window.kind == "cumulate":
        assert window.slide is not None
        arguments = ["cumulate", time, f"step={quoted(window.slide.text)}"]
        arguments.append(f"size={quoted(window.size.text)}")
        if window.offset is not None:
            arguments.append(f"offset={quoted(window.offset.text)}")
        rows = rows.then(Call("transform", tuple(arguments)))
    return rows


def grouping(window: Window) -> str:
    """Return the window of a grouping: a function, or the column that ``prepared`` added."""
    time = columns.argument(window.column.expression)
    match window.kind:
        case "session":
            return f"F.session_window({time}, {quoted(window.size.text)})"
        case "cumulate":
            return quoted(window.struct)
    lengths = [window.size.text]
    if window.slide is not None:
        lengths.append(window.slide.text)
    elif window.offset is not None:
        lengths.append(window.size.text)
    if window.offset is not None:
        lengths.append(window.offset.text)
    return f"F.window({', '.join([time, *map(quoted, lengths)])})"


def window_entry(window: Window) -> plan.Window:
    """Return a window's entry in the plan."""
    session, cumulate = window.kind == "session", window.kind == "cumulate"
    return plan.Window(
        kind=window.kind,
        column=_time(window),
        size=None if session else window.size.text,
        slide=window.slide.text if window.kind == "hop" and window.slide else None,
        gap=window.size.text if session else None,
        step=window.slide.text if cumulate and window.slide else None,
        offset=None if window.offset is None else window.offset.text,
        time="processing" if window.processing else None,
    )


def _time(window: Window) -> str:
    """Return the column of a window, without the alias of a look-up's stream."""
    expression = window.column.expression
    if isinstance(expression, ColumnRef):
        return sql(ColumnRef(expression.span, expression.parts[-1:]))
    return sql(expression)
