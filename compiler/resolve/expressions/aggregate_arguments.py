"""Arguments of aggregates: how many, of which types, and which of them are constants in a range."""

from __future__ import annotations

from collections.abc import Callable

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.aggregates import CONSTANTS, AggregateFunction
from ...model.typed import Typed
from .comparisons import text_for_number
from .typing import Context

_TAKEN = {
    "binary": "a sketch or bitmap, which is a BINARY",
    "boolean": "a condition",
    "countable": "an INT, BIGINT, STRING or BINARY",
    "float": "a FLOAT",
    "floating": "a FLOAT or DOUBLE",
    "hashable": "a number, a string or bytes",
    "inexact": "a number or an interval, but not a DECIMAL",
    "integral": "a whole number",
    "measurable": "a number, a date, a time or an interval",
    "number": "a number",
    "numeric": "a number or an interval",
    "orderable": "an orderable value",
    "plain": "a scalar value",
}
_NUMBERS = frozenset("float floating inexact integral measurable number numeric".split())
_COUNTABLE = (t.INT, t.BIGINT, t.STRING, t.BINARY)
_MOMENTS = (t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ)
_FLOATING = (t.FLOAT, t.DOUBLE)

_FITS: dict[str, Callable[[t.Type], bool]] = {
    "any": lambda type_: True,
    "binary": lambda type_: type_ == t.BINARY,
    "boolean": lambda type_: type_ == t.BOOLEAN,
    "countable": lambda type_: type_ in _COUNTABLE,
    "float": lambda type_: type_ == t.FLOAT,
    "floating": lambda type_: type_ in _FLOATING,
    "hashable": lambda type_: type_ in (*_COUNTABLE, *_FLOATING),
    "inexact": lambda type_: _is_measure(type_) and not isinstance(type_, t.Decimal),
    "integral": t.is_integral,
    "measurable": lambda type_: _is_measure(type_) or type_ in _MOMENTS,
    "number": t.is_numeric,
    "numeric": lambda type_: _is_measure(type_),
    "orderable": t.is_orderable,
    "plain": lambda type_: not isinstance(type_, t.Array | t.Map | t.Struct) and type_ != t.VARIANT,
}

_RANGES: dict[str, tuple[float, float]] = {
    "accuracy": (1, 2**31 - 1),
    "bins": (2, 2**31 - 1),
    "error": (0.01, 0.39),
    "percentage": (0, 1),
    "share": (1e-9, 1 - 1e-9),
    "size": (1, 2**31 - 1),
}
_SIZES = {"hll": (4, 21), "theta": (4, 26), "kll": (8, 65535)}
_WHOLE = frozenset({"accuracy", "bins", "size"})
_DEFAULTS: dict[str, tuple[str | None, ...]] = {
    "any_value": (None, "FALSE"),
    "approx_count_distinct": (None, "0.05"),
    "approx_percentile": (None, None, "10000"),
    "approx_top_k": (None, "5", "10000"),
    "hll_sketch_agg": (None, "12"),
    "percentile": (None, None, "1"),
    "theta_sketch_agg": (None, "12"),
    "theta_union_agg": (None, "12"),
}
"""Spark's defaults for omitted constants: written or not, it is the same aggregate."""


def fits(kind: str, type_: t.Type) -> bool:
    """Return whether a type is of the kind that an aggregate accepts."""
    return _FITS[kind](type_)


def taken(kind: str) -> str:
    """Return a kind of values in words."""
    return _TAKEN[kind]


def _is_measure(type_: t.Type) -> bool:
    return t.is_numeric(type_) or isinstance(type_, t.IntervalType)


def checked_arguments(
    node: e.Call, found: AggregateFunction, arguments: list[Typed], context: Context
) -> list[Typed] | None:
    """Return the arguments, with constants in canonical spelling, or None after a report."""
    count = len(arguments)
    if count < found.least or (found.most is not None and count > found.most):
        context.report(_argument_count(node, found))
        return None
    checked: list[Typed] = []
    for i, argument in enumerate(arguments):
        wanted = found.takes[min(i, len(found.takes) - 1)]
        if wanted in CONSTANTS:
            constant = _constant(found, wanted, argument)
            if constant is None:
                context.report(_not_constant(node, i, found, wanted))
                return None
            checked.append(constant)
            continue
        if not t.is_open(argument.type) and not _FITS[wanted](argument.type):
            context.report(_argument_type(node, i, argument, wanted, context))
            return None
        checked.append(argument)
    return _without_defaults(found, checked)


def _without_defaults(found: AggregateFunction, arguments: list[Typed]) -> list[Typed]:
    defaults = _DEFAULTS.get(found.name, ())
    while len(arguments) > found.least and len(defaults) >= len(arguments):
        default, last = defaults[len(arguments) - 1], arguments[-1].expression
        if default is None or default != _spelling(last):
            break
        arguments = arguments[:-1]
    return arguments


def _spelling(expression: e.Expression) -> str | None:
    match expression:
        case e.NumberLiteral(_, text):
            return text
        case e.BooleanLiteral(_, value):
            return str(value).upper()
    return None


def _constant(found: AggregateFunction, wanted: str, argument: Typed) -> Typed | None:
    """Return a constant argument in canonical spelling, None if it is not one or out of range."""
    expression = argument.expression
    match expression:
        case e.BooleanLiteral() if wanted == "flag":
            return argument
        case e.StringLiteral() if wanted == "separator":
            return argument
        case e.Call(_, name, items) if wanted == "percentage" and name.text == "array" and items:
            inner = [_number(found, wanted, item) for item in items]
            known = tuple(item for item in inner if item is not None)
            if len(known) < len(items):
                return None
            return Typed(e.Call(expression.span, name, known), t.Array(t.DOUBLE), nullable=False)
    number = _number(found, wanted, expression) if wanted in _RANGES else None
    return None if number is None else Typed(number, argument.type, nullable=False)


def _number(found: AggregateFunction, wanted: str, node: e.Expression) -> e.NumberLiteral | None:
    if not isinstance(node, e.NumberLiteral):
        return None
    text = node.text.rstrip("BDFLbdfl")
    least, most = _range(found, wanted)
    if wanted in _WHOLE:
        fits = text.isdigit() and least <= int(text) <= most
        return e.NumberLiteral(node.span, str(int(text))) if fits else None
    fits = least <= float(text) <= most
    # Spark casts a decimal implicitly to a percentage or an error, but not to a share.
    spelling = repr(float(text)) + ("D" if wanted == "share" else "")
    return e.NumberLiteral(node.span, spelling) if fits else None


def _range(found: AggregateFunction, wanted: str) -> tuple[float, float]:
    if wanted == "size":
        return _SIZES.get(found.name.partition("_")[0], _RANGES[wanted])
    return _RANGES[wanted]


def _not_constant(node: e.Call, index: int, found: AggregateFunction, wanted: str) -> Diagnostic:
    match wanted:
        case "flag":
            takes, fix = "TRUE or FALSE", "write TRUE or FALSE"
        case "separator":
            takes, fix = "a text", "write it in quotes, as in `', '`"
        case _:
            least, most = _range(found, wanted)
            kind = "a whole number" if wanted in _WHOLE else "a number"
            takes = f"{kind} from {least:g} to {most:.15g}"
            fix = "write it as a number, as in `0.5`"
            if wanted == "percentage":
                takes, fix = f"{takes}, or an array of such", f"{fix} or `array(0.5, 0.99)`"
            elif wanted in _WHOLE:
                fix = "write it as a number"
    return Diagnostic(
        codes.AGGREGATE_CONSTANT,
        f"argument {index + 1} of `{found.name}` must be a constant: {takes}",
        Label(node.arguments[index].span),
        help=fix,
    )


def _argument_count(node: e.Call, found: AggregateFunction) -> Diagnostic:
    takes = f"{found.least} argument{'' if found.least == 1 else 's'}"
    if found.most is None:
        takes += " or more"
    elif found.optional:
        takes = f"{found.least} to {found.most} arguments"
    fix = "count rows by `COUNT(*)`" if found.name == "count" else f"give it {takes}"
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`{found.name}` takes {takes}, not {len(node.arguments)}",
        Label(node.span),
        help=fix,
    )


def _argument_type(
    node: e.Call, index: int, value: Typed, wanted: str, context: Context
) -> Diagnostic:
    argument = node.arguments[index]
    written = context.text(argument)
    name = node.name.text.lower()
    fix = f"give it {_TAKEN[wanted]}"
    if value.type == t.STRING and wanted in _NUMBERS:
        target = t.BIGINT if wanted == "integral" else t.DOUBLE
        fix = text_for_number(value, argument, target, context)
    elif wanted == "inexact" and isinstance(value.type, t.Decimal):
        fix = f"write `{name.removeprefix('try_').upper()}({written})`: it has ten spare digits"
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{name}` takes {_TAKEN[wanted]}, `{written}` is {value.type}",
        Label(argument.span, str(value.type)),
        help=fix,
    )
