"""Literals: their types in Spark, and those without a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.intervals import interval_micros, interval_months, interval_type
from ...model.typed import Typed
from .typing import Context, typed

_NUMBER = re.compile(
    r"(?P<sign>-?)(?P<whole>\d*)(?P<point>\.(?P<fraction>\d*))?"
    r"(?P<exponent>E[+-]?\d+)?(?P<suffix>BD|[LSYFD])?"
)
_INTEGRAL_SUFFIXES = {"Y": t.TINYINT, "S": t.SMALLINT, "L": t.BIGINT}
_LARGEST = {"F": 3.4028235e38, "D": 1.7976931348623157e308}
_DATE = r"(?P<year>[+-]?\d{4,6})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.\d{0,9})?)?"
_MOMENT = re.compile(rf"{_DATE}(?:[T ](?:{_TIME}\s*(?P<zone>[A-Za-z0-9/_+:-]*))?)?)?)?")
_SPECIAL = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})
_MOMENT_LITERALS = {
    "DATE": t.DATE,
    "TIMESTAMP": t.TIMESTAMP,
    "TIMESTAMP_LTZ": t.TIMESTAMP,
    "TIMESTAMP_NTZ": t.TIMESTAMP_NTZ,
}
_EXAMPLES: dict[t.Type, str] = {t.DATE: "2026-01-31", t.TIMESTAMP: "2026-01-31T10:00:00Z"}


@typed.register(e.NullLiteral)
def _typed_null(node: e.NullLiteral, context: Context) -> Typed:
    return Typed(node, t.NULL)


@typed.register(e.BooleanLiteral)
def _typed_boolean(node: e.BooleanLiteral, context: Context) -> Typed:
    return Typed(node, t.BOOLEAN, nullable=False)


@typed.register(e.StringLiteral)
def _typed_string(node: e.StringLiteral, context: Context) -> Typed:
    return Typed(node, t.STRING, nullable=False)


@typed.register(e.NumberLiteral)
def _typed_number(node: e.NumberLiteral, context: Context) -> Typed:
    return Typed(node, number_type(node, node.text, context), nullable=False)


@typed.register(e.TypedLiteral)
def _typed_typed_literal(node: e.TypedLiteral, context: Context) -> Typed:
    wanted = _MOMENT_LITERALS.get(node.type_name)
    if wanted is not None:
        if not is_moment(node.value):
            context.report(_bad_moment(node, node.value, wanted))
        return Typed(node, wanted, nullable=False)
    if node.type_name != "X":
        context.report(_no_such_literal(node))
        return Typed(node, t.UNKNOWN)
    if re.fullmatch(r"[0-9A-Fa-f]*", node.value) is None:
        context.report(_bad_binary(node))
    return Typed(node, t.BINARY, nullable=False)


@typed.register(e.Interval)
def _typed_interval(node: e.Interval, context: Context) -> Typed:
    type_ = interval_type(node)
    length = interval_micros(node) if type_ and type_.is_day_time else interval_months(node)
    if type_ is None or length is None:
        context.report(_bad_interval(node, context))
        return Typed(node, t.UNKNOWN)
    return Typed(node, type_, nullable=False)


def number_type(node: e.Expression, text: str, context: Context) -> t.Type:
    """Return the type of a number as written (a minus in front is part of it)."""
    found = _NUMBER.fullmatch(text.upper().replace(" ", ""))
    if found is None:
        context.report(_bad_number(node, text, "is no number"))
        return t.UNKNOWN
    suffix = found["suffix"]
    plain = found["point"] is None and found["exponent"] is None
    if suffix in ("F", "D") or (found["exponent"] and suffix is None):
        type_: t.Type = t.FLOAT if suffix == "F" else t.DOUBLE
        if abs(float(found[0].rstrip("FD"))) > _LARGEST[suffix or "D"]:
            context.report(_bad_number(node, text, f"is too large for {type_}"))
        return type_
    if plain and suffix != "BD":
        return _integral_type(node, text, int(found["sign"] + found["whole"]), suffix, context)
    return _decimal_type(node, text, found, context)


def _integral_type(
    node: e.Expression, text: str, value: int, suffix: str | None, context: Context
) -> t.Type:
    wanted = _INTEGRAL_SUFFIXES.get(suffix or "")
    for type_ in (t.INT, t.BIGINT) if wanted is None else (wanted,):
        limit = t.INTEGRAL_RANGES[type_]
        if -limit <= value < limit:
            return type_
    digits = len(str(abs(value)))
    if wanted is not None or digits > t.MAX_PRECISION:
        context.report(_bad_number(node, text, f"is too large for {wanted or 'a number'}"))
    return wanted or t.decimal(digits, 0)


def _decimal_type(node: e.Expression, text: str, found: re.Match[str], context: Context) -> t.Type:
    fraction = found["fraction"] or ""
    digits = len((found["whole"] + fraction).lstrip("0")) or 1
    scale = len(fraction) - int((found["exponent"] or "E0")[1:])
    precision = max(digits, scale) if scale >= 0 else digits - scale
    if precision > t.MAX_PRECISION:
        context.report(_bad_number(node, text, f"has more than {t.MAX_PRECISION} digits"))
    return t.decimal(precision, max(scale, 0))


def is_moment(text: str) -> bool:
    """Return whether Spark reads a text as a date or a time."""
    text = text.strip()
    found = _MOMENT.fullmatch(text)
    if found is None:
        return text.lower() in _SPECIAL
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    try:
        date(int(found["year"]) % 400 + 400, int(found["month"] or 1), int(found["day"] or 1))
    except ValueError:
        return False
    return hour < 24 and minute < 60 and second < 60


def text_as_moment(value: Typed, wanted: t.Type, context: Context) -> bool:
    """Return whether a value is a text literal where a date or time is wanted, as Spark reads it.

    A text that can't be read is reported.
    """
    if wanted not in t.DATETIMES or not isinstance(value.expression, e.StringLiteral):
        return False
    if not is_moment(value.expression.value):
        context.report(_bad_moment(value.expression, value.expression.value, wanted))
    return True


def texts_as_moments(before: Sequence[Typed], type_: t.Type, context: Context) -> bool:
    """Return whether all alternatives before a date or time are text literals, to be read as one.

    As in ``COALESCE('2026-01-01', day)``. Texts that can't be read are reported.
    """
    known = [value for value in before if value.type is not t.NULL]
    if type_ not in t.DATETIMES or not known:
        return False
    if not all(isinstance(value.expression, e.StringLiteral) for value in known):
        return False
    for value in known:
        text_as_moment(value, type_, context)
    return True


def name_in_quotes(written: str) -> str | None:
    """Return the help for a text in double quotes that looks like an identifier of standard SQL."""
    found = re.fullmatch(r'"([A-Za-z_]\w*)"', written)
    return f"double quotes delimit a string; the column is `{found[1]}`" if found else None


def _bad_number(node: e.Expression, text: str, why: str) -> Diagnostic:
    return Diagnostic(
        codes.BAD_LITERAL,
        f"`{text}` {why}",
        Label(node.span),
        help=f"a DECIMAL holds {t.MAX_PRECISION} digits, a BIGINT up to {2**63 - 1}, a DOUBLE up "
        f"to {_LARGEST['D']}",
    )


def _bad_moment(node: e.Expression, text: str, wanted: t.Type) -> Diagnostic:
    example = _EXAMPLES.get(wanted, "2026-01-31T10:00:00")
    return Diagnostic(
        codes.BAD_LITERAL,
        f"`'{text}'` is not a valid {wanted}",
        Label(node.span),
        help=f"write it as in `{wanted} '{example}'`",
    )


def _bad_binary(node: e.TypedLiteral) -> Diagnostic:
    return Diagnostic(
        codes.BAD_LITERAL,
        f"`X'{node.value}'` is not a valid BINARY",
        Label(node.span),
        help="write hexadecimal digits, as in `X'1F4A'`",
    )


def _no_such_literal(node: e.TypedLiteral) -> Diagnostic:
    return Diagnostic(
        codes.BAD_LITERAL,
        f"there are no `{node.type_name}` literals",
        Label(node.span),
        help="write a string and cast it, as in `CAST('…' AS …)`",
    )


def _bad_interval(node: e.Interval, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.BAD_INTERVAL,
        f"`{context.text(node)}` is not a valid interval",
        Label(node.span),
        notes=(
            "the units are YEAR and MONTH, or WEEK, DAY, HOUR, MINUTE, SECOND, MILLISECOND and "
            "MICROSECOND; the two families do not mix, and only seconds have a fraction",
        ),
        help="write whole amounts and units, as in `INTERVAL 1 HOUR 30 MINUTES`",
    )
