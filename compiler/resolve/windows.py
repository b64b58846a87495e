"""TUMBLE, HOP and SESSION in FROM."""

from __future__ import annotations

from ...dsl import codes
from ...dsl.ast import expressions as e
from ...dsl.ast import queries as q
from ...dsl.diagnostics import Diagnostic, Diagnostics, Label
from ...dsl.source import Span
from ..model import types
from ..model.schema import Duration
from ..model.steps import Window
from .durations import duration
from .expressions import Clause, check
from .not_built import not_built
from .scope import BlockScope, Visible

_FORMS = {
    "TUMBLE": ("TUMBLE(t, ts, INTERVAL 1 MINUTE)", 1),
    "HOP": ("HOP(t, ts, INTERVAL 1 MINUTE, INTERVAL 5 MINUTES)", 2),
    "SESSION": ("SESSION(t, ts, INTERVAL 30 MINUTES)", 1),
}


def resolve_window(
    node: q.WindowTable, visible: Visible, diagnostics: Diagnostics
) -> Window | None:
    """Return the window of a table function, or None after saying what is wrong with it."""
    if node.kind not in _FORMS:
        diagnostics.add(not_built(f"a {node.kind} window", node.span))
        return None
    if node.offset is not None:
        diagnostics.add(not_built("OFFSET of a window", node.offset.span))
        return None
    column = node.column
    if column is None:
        return None
    scope = BlockScope((visible,), diagnostics)
    typed = check(column, scope, Clause(node.kind, aggregates=False), diagnostics)
    form, count = _FORMS[node.kind]
    if len(node.arguments) != count:
        diagnostics.add(_arguments(node, f"`{node.kind}` takes {count} lengths of time", form))
        return None
    lengths = _lengths(node, diagnostics)
    if lengths is None:
        return None
    if typed.type is types.UNKNOWN:
        return None
    field = scope.field(typed.expression)
    if field is None or field.watermark is None:
        diagnostics.add(missing_watermark(node.kind, column, visible))
        return None
    if node.kind == "HOP":
        slide, size = lengths
        if slide.micros > size.micros:
            diagnostics.add(
                _arguments(node, f"the slide of {slide} is longer than the size of {size}", form)
            )
            return None
        return Window("hop", typed, size, slide)
    return Window(node.kind.lower(), typed, lengths[0])


def _lengths(node: q.WindowTable, diagnostics: Diagnostics) -> list[Duration] | None:
    what = {"HOP": ("slide", "size"), "SESSION": ("gap",)}.get(node.kind, ("size",))
    found = [
        duration(argument, f"the {name} of a window", diagnostics)
        for name, argument in zip(what, node.arguments, strict=True)
    ]
    known = [length for length in found if length is not None]
    return known if len(known) == len(found) else None


def missing_watermark(what: str, column: e.Expression, visible: Visible) -> Diagnostic:
    """Return the diagnostic for an event time without a watermark."""
    name = column.parts[-1].text if isinstance(column, e.ColumnRef) else "ts"
    times = visible.schema.event_times()
    if times:
        help_ = f"use `{times[0].name}`, the event time of `{visible.alias}`"
    elif visible.schema.find("window_start") and not visible.schema.find("window_time"):
        help_ = f"select `window_time` in `{visible.alias}` and use it here"
    else:
        help_ = f"add `WATERMARK FOR {name} AS {name} - INTERVAL 1 MINUTE` to the source"
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"{what} needs an event time, and `{name}` has no watermark",
        Label(column.span, "its state would never be dropped"),
        secondary=(Label(visible.span, f"`{visible.alias}` is declared here"),),
        help=help_,
    )


def no_group(kind: str, span: Span) -> Diagnostic:
    """Return the diagnostic for a session window that is used row by row."""
    return Diagnostic(
        codes.WINDOW_NOT_GROUPED,
        f"a {kind} window is known only once its rows are grouped",
        Label(span),
        help="add `GROUP BY window_start` and aggregates",
    )


def _arguments(node: q.WindowTable, message: str, form: str) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_ARGUMENTS, message, Label(node.span), help=f"the form is `{form}`"
    )
