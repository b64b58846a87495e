"""Interval literals that must have a fixed, positive length: delays, windows, bounds, policies."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model.intervals import duration_text, interval_micros
from ...model.schema import Duration


def duration(
    node: e.Expression,
    what: str,
    diagnostics: Diagnostics,
    *,
    zero: bool = False,
    signed: bool = False,
) -> Duration | None:
    """Return the length of a literal, or None after reporting why it has none.

    ``what`` names its purpose, "the size of a window"; ``zero`` allows a length of zero, ``signed``
    also a negative one.
    """
    if not isinstance(node, e.Interval):
        diagnostics.add(_not_an_interval(node, what))
        return None
    micros, text = interval_micros(node), duration_text(node)
    if micros is None or text is None:
        diagnostics.add(_no_fixed_length(node, what))
        return None
    if not signed and (micros < 0 or (micros == 0 and not zero)):
        diagnostics.add(_not_positive(node, what))
        return None
    return Duration(micros, text)


def _not_an_interval(node: e.Expression, what: str) -> Diagnostic:
    return Diagnostic(
        codes.NO_FIXED_LENGTH,
        f"{what} must be an interval literal",
        Label(node.span),
        help="write a duration such as `INTERVAL 10 MINUTES`",
    )


def _no_fixed_length(node: e.Interval, what: str) -> Diagnostic:
    units = ", ".join(part.unit for part in node.parts)
    return Diagnostic(
        codes.NO_FIXED_LENGTH,
        f"{what} needs a fixed length, which `{units}` does not have",
        Label(node.span, "months and years differ in length"),
        help=_by_calendar(node)
        if what == "the size of a window"
        else "use days, as in `INTERVAL 30 DAYS`",
    )


def _by_calendar(node: e.Interval) -> str:
    unit = "YEAR" if any(part.unit.startswith("YEAR") for part in node.parts) else "MONTH"
    return (
        "for calendar units: windows of `INTERVAL 1 DAY`, and over them a stream `WITH (unbounded "
        f"= 'a row a {unit.lower()}')`\nthat groups by `DATE_TRUNC('{unit}', window_start)` and "
        "ends with EMIT CHANGES; or `INTERVAL 30 DAYS`"
    )


def _not_positive(node: e.Interval, what: str) -> Diagnostic:
    return Diagnostic(
        codes.NO_FIXED_LENGTH,
        f"{what} must be greater than zero",
        Label(node.span),
        help="write a positive duration such as `INTERVAL 10 MINUTES`",
    )
