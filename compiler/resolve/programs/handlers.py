"""ON EVENT and ON TIMER: which handler is for what, and whether all are present."""

from __future__ import annotations

from ....dsl.ast import programs as p
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ...model.programs import Handler, ProgramInput
from ...model.schema import Schema
from .scope import Names, ProgramScope
from .statements import Place, resolve_body
from .targets import timer_of


def handlers(
    node: st.CreateOperator, names: Names, returns: Schema, diagnostics: Diagnostics
) -> tuple[Handler, ...]:
    """Return the handlers, after reporting which are missing or superfluous."""
    found: list[Handler] = []
    first: dict[tuple[bool, str], p.Handler] = {}
    for handler in node.handlers:
        is_timer = handler.kind == "TIMER"
        name = _timer(handler, names, diagnostics) if is_timer else None
        given = None if is_timer else _input(handler, names, diagnostics)
        name = given.alias if given is not None else name
        if name is None:
            # Its input or timer is unknown, and so are its names.
            continue
        taken = first.setdefault((is_timer, name.lower()), handler)
        if taken is not handler:
            diagnostics.add(_second(handler, taken, name))
        scope = ProgramScope(names, diagnostics, given)
        if is_timer:
            scope.timer = names.timers[name.lower()]
        body = resolve_body(handler.body, Place(scope, returns, diagnostics))
        found.append(Handler(name, body, is_timer))
    _unserved(node, names, diagnostics)
    return tuple(found)


def _timer(handler: p.Handler, names: Names, diagnostics: Diagnostics) -> str | None:
    assert handler.name is not None
    timer = timer_of(handler.name, names, diagnostics)
    return None if timer is None else timer.name


def _input(handler: p.Handler, names: Names, diagnostics: Diagnostics) -> ProgramInput | None:
    if handler.name is None:
        if len(names.inputs) == 1:
            return names.inputs[0]
        diagnostics.add(_unnamed(handler, names))
        return None
    wanted = handler.name.text.lower()
    found = next((i for i in names.inputs if i.alias.lower() == wanted), None)
    if found is None:
        diagnostics.add(_unknown_input(handler, names))
    return found


def _unserved(node: st.CreateOperator, names: Names, diagnostics: Diagnostics) -> None:
    """Report inputs and timers without a handler, unless a handler's name has been reported."""
    events = [h for h in node.handlers if h.kind == "EVENT"]
    served = {h.name.text.lower() for h in events if h.name is not None}
    wrong = served - {given.alias.lower() for given in names.inputs}
    if all(h.name is not None for h in events):
        for given, declared in zip(names.inputs, node.inputs, strict=True):
            if given.alias.lower() not in served and not wrong:
                diagnostics.add(_no_handler(declared.span, given.alias, len(node.inputs)))
    timers = {h.name.text.lower() for h in node.handlers if h.kind == "TIMER" and h.name}
    if timers <= names.timers.keys():
        for timer in node.timers:
            if timer.name.text.lower() not in timers:
                diagnostics.add(_no_timer_handler(timer))


def _unnamed(handler: p.Handler, names: Names) -> Diagnostic:
    listed = " and ".join(f"`ON EVENT {given.alias}`" for given in names.inputs)
    return Diagnostic(
        codes.HANDLER_FORM,
        f"ON EVENT does not name one of the {len(names.inputs)} inputs",
        Label(head(handler)),
        help=f"write {listed}",
    )


def _second(handler: p.Handler, first: p.Handler, name: str) -> Diagnostic:
    kind = handler.kind
    return Diagnostic(
        codes.HANDLER_FORM,
        f"there are two handlers ON {kind} {name}",
        Label(head(handler), "the second"),
        secondary=(Label(head(first), "the first"),),
        help="combine the statements of both",
    )


def head(handler: p.Handler) -> Span:
    """Return the span of a handler's head."""
    if handler.name is not None:
        return handler.name.span
    return Span(handler.span.start, handler.span.start + len("ON EVENT"))


def _unknown_input(handler: p.Handler, names: Names) -> Diagnostic:
    assert handler.name is not None
    known = [given.alias for given in names.inputs]
    near = closest(handler.name.text, known)
    listed = " or ".join(f"`ON EVENT {alias}`" for alias in known)
    return Diagnostic(
        codes.UNKNOWN_INPUT,
        f"there is no input `{handler.name}` in `{names.operator}`",
        Label(handler.name.span),
        help=_NO_BEGIN
        if handler.name.text.upper() == "BEGIN"
        else f"did you mean `{near[0]}`?"
        if near
        else f"write {listed}",
    )


_NO_BEGIN = "the statements of a handler directly follow `ON EVENT`: leave out BEGIN and its END"


def _no_handler(span: Span, alias: str, inputs: int) -> Diagnostic:
    return Diagnostic(
        codes.INPUT_UNSERVED,
        f"nothing handles the rows of `{alias}`",
        Label(span),
        help=f"add `ON EVENT{f' {alias}' if inputs > 1 else ''} …`"
        + (", or remove the input" if inputs > 1 else ""),
    )


def _no_timer_handler(timer: st.Timer) -> Diagnostic:
    return Diagnostic(
        codes.TIMER_UNSERVED,
        f"nothing handles timer `{timer.name}`",
        Label(timer.span),
        help=f"add `ON TIMER {timer.name} …`, or remove the timer",
    )
