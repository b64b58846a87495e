"""TUMBLE, HOP, CUMULATE and SESSION in FROM."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model import types
from ...model.intervals import micros_text
from ...model.schema import Duration
from ...model.steps import Window
from ..declarations.durations import duration
from ..expressions.resolve import Clause, check
from ..scopes.scope import BlockScope, Visible
from .lost_times import time_help

_LENGTHS = {
    "TUMBLE": ("size",),
    "HOP": ("slide", "size"),
    "CUMULATE": ("step", "size"),
    "SESSION": ("gap",),
}
_FORMS = {
    "TUMBLE": "TUMBLE(t, ts, INTERVAL 1 MINUTE)",
    "HOP": "HOP(t, ts, INTERVAL 1 MINUTE, INTERVAL 5 MINUTES)",
    "CUMULATE": "CUMULATE(t, ts, INTERVAL 1 HOUR, INTERVAL 1 DAY)",
    "SESSION": "SESSION(t, ts, INTERVAL 30 MINUTES)",
}


def resolve_window(
    node: q.WindowTable, visible: Visible, diagnostics: Diagnostics
) -> Window | None:
    """Return the window of a table function, or None after a report."""
    column = node.column
    if column is None:
        return None
    scope = BlockScope((visible,), diagnostics)
    typed = check(column, scope, Clause(node.kind, aggregates=False), diagnostics)
    names = _LENGTHS[node.kind]
    if len(node.arguments) != len(names):
        message = f"`{node.kind}` takes {len(names)} durations"
        diagnostics.add(_arguments(node, message))
        return None
    lengths = _lengths(node, diagnostics)
    if lengths is None or typed.type is types.UNKNOWN:
        return None
    field = scope.field(typed.expression)
    if field is None or (field.watermark is None and not field.proctime):
        diagnostics.add(missing_watermark(node.kind, column, visible))
        return None
    window = Window(
        node.kind.lower(),
        typed,
        size=lengths[-1],
        slide=lengths[0] if len(lengths) > 1 else None,
        offset=_offset(node, diagnostics),
        processing=field.watermark is None,
    )
    problem = _misfit(node, window, visible)
    if problem is not None:
        diagnostics.add(problem)
        return None
    return window


def _lengths(node: q.WindowTable, diagnostics: Diagnostics) -> list[Duration] | None:
    found = [
        duration(argument, f"the {name} of a window", diagnostics)
        for name, argument in zip(_LENGTHS[node.kind], node.arguments, strict=True)
    ]
    known = [length for length in found if length is not None]
    return known if len(known) == len(found) else None


def _offset(node: q.WindowTable, diagnostics: Diagnostics) -> Duration | None:
    """Return the offset of all windows, None if there is none."""
    if node.offset is None:
        return None
    found = duration(node.offset, "the offset of a window", diagnostics, signed=True)
    return found if found is not None and found.micros else None


def _misfit(node: q.WindowTable, window: Window, visible: Visible) -> Diagnostic | None:
    """Return why individually valid lengths are inconsistent."""
    size, slide, offset = window.size, window.slide, window.offset
    if window.kind == "hop" and slide is not None and slide.micros > size.micros:
        return _arguments(node, f"the slide of {slide} is longer than the size of {size}")
    if window.kind == "cumulate" and slide is not None and size.micros % slide.micros:
        return _arguments(node, f"the size of {size} is not a multiple of the step of {slide}")
    if window.kind == "cumulate" and visible.schema.find(window.struct) is not None:
        return taken_name(node.span, visible, window.struct)
    if node.offset is not None and window.kind == "session":
        return _no_offset(node.offset.span)
    every = slide if window.kind == "hop" and slide is not None else size
    if node.offset is not None and offset is not None and abs(offset.micros) >= every.micros:
        return _long_offset(node.offset.span, offset, every)
    return None


def missing_watermark(what: str, column: e.Expression, visible: Visible) -> Diagnostic:
    """Return the diagnostic for an event time without a watermark."""
    name = column.parts[-1].text if isinstance(column, e.ColumnRef) else "ts"
    times = visible.schema.event_times()
    if times:
        help_ = f"use `{times[0].name}`, the event time of `{visible.alias}`"
    elif visible.schema.find("window_start") and not visible.schema.find("window_time"):
        help_ = f"select `window_time` in `{visible.alias}` and use it here"
    else:
        add = f"add `WATERMARK FOR {name} AS {name} - INTERVAL 1 MINUTE` to the source"
        help_ = time_help(visible.schema, add)
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"{what} needs an event time, but `{name}` has no watermark",
        Label(column.span, "its state would never be dropped"),
        secondary=(Label(visible.span, f"`{visible.alias}` is declared here"),),
        help=help_,
    )


def no_group(kind: str, span: Span) -> Diagnostic:
    """Return the diagnostic for a session window assigned row by row."""
    return Diagnostic(
        codes.WINDOW_NOT_GROUPED,
        f"a {kind} window is known only once its rows are grouped",
        Label(span),
        help="add `GROUP BY window_start` and aggregates",
    )


def taken_name(span: Span, visible: Visible, name: str) -> Diagnostic:
    """Return the diagnostic for a column with the name of the window's."""
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        f"`{visible.alias}` has a column `{name}`, which is Spark's name for the window of a row",
        Label(span),
        help=f"rename it first: `FROM (SELECT …, {name} AS other FROM t) AS renamed`",
    )


def _no_offset(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        "a SESSION starts with a row, so it has no OFFSET",
        Label(span),
        help="remove OFFSET",
    )


def _long_offset(span: Span, offset: Duration, every: Duration) -> Diagnostic:
    rest = abs(offset.micros) % every.micros
    same = micros_text(rest if offset.micros > 0 else -rest)
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        f"an offset of {offset} is not shorter than {every}, after which the windows repeat",
        Label(span),
        help=f"write `OFFSET INTERVAL {same.upper()}`, which is the same"
        if rest
        else "remove OFFSET: it changes nothing",
    )


def _arguments(node: q.WindowTable, message: str) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        message,
        Label(node.span),
        help=f"the form is `{_FORMS[node.kind]}`",
    )
