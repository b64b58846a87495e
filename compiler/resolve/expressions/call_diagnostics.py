"""Diagnostics about calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.suggest import closest
from ....dsl.syntax.mistakes import ARRAYS_IN_PLACE
from ...model import types as t
from ...model.coercion import can_cast
from ...model.functions import Function, aggregate_names, function_names
from ...model.signatures import Pattern
from ...model.typed import Typed
from ..foreign.functions import OTHER_WAYS
from ..foreign.not_built import not_built
from .comparisons import number_as_instant, text_for_number
from .typing import Context

ONE_OF_MANY_TYPES = frozenset({"array", "coalesce", "greatest", "if", "ifnull", "least", "nvl"})
"""Functions whose arguments need a common type."""


def misplaced(node: e.Expression, why: str) -> Diagnostic:
    """Return the diagnostic for an expression that is not allowed where it is."""
    return Diagnostic(
        codes.MISPLACED_EXPRESSION, why, Label(node.span), help="name the columns one by one"
    )


def misplaced_over(node: e.Call, context: Context) -> Diagnostic:
    """Return the diagnostic for OVER where it is not allowed."""
    return Diagnostic(
        codes.MISPLACED_WINDOW,
        f"`{node.name} … OVER` is not allowed in {context.clause.name}",
        Label(node.span),
        help="give it a name in a separate stream, and use that name here",
    )


def unknown_function(node: e.Call) -> Diagnostic:
    """Return the diagnostic for a function that does not exist."""
    name = node.name.text.lower()
    near = closest(name, (*function_names(), *aggregate_names()))
    fix = f"did you mean `{near[0]}`?" if near else "the functions are those of Spark SQL"
    fix = OTHER_WAYS.get(name, fix)
    return Diagnostic(
        codes.UNKNOWN_FUNCTION, f"there is no function `{name}`", Label(node.name.span), help=fix
    )


def unfit_group(node: e.Call, found: Function, context: Context) -> Diagnostic:
    """Return the diagnostic for a function of a group that is not allowed there."""
    if found.group == "window":
        return Diagnostic(
            codes.MISPLACED_WINDOW,
            f"`{found.name}` needs OVER",
            Label(node.span),
            help=f"add it here: `{context.text(node)} OVER (PARTITION BY key ORDER BY time)`, "
            "by the event time",
        )
    if found.group == "aggregate":
        return not_built(f"the aggregate `{found.name}`", node.span)
    return Diagnostic(
        codes.TABLE_FUNCTION,
        f"`{found.name}` would generate several rows, which an expression cannot do",
        Label(node.span),
        help=ARRAYS_IN_PLACE,
    )


def not_an_aggregate(node: e.Call, clause: str) -> Diagnostic:
    """Return the diagnostic for such a clause behind another function."""
    return Diagnostic(
        codes.NOT_AN_AGGREGATE,
        f"`{node.name.text.lower()}` is not an aggregate, so it takes no {clause}",
        Label(node.span),
        help=f"remove {clause}",
    )


def argument_count(node: e.Call, found: Function) -> Diagnostic:
    """Return the diagnostic for a wrong number of arguments."""
    count = len(node.arguments)
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`{found.name}` takes {counted(found.least, found.most)}, not {count}",
        Label(node.span),
        help="add the missing ones" if count < found.least else "remove the extra ones",
    )


def counted(least: int, most: int | None) -> str:
    """Return numbers of arguments as words: ``2 or 3 arguments``."""
    if most is None:
        return f"{least} or more arguments" if least else "arguments"
    if least == most:
        return f"{least} argument{'' if least == 1 else 's'}" if least else "no argument"
    return f"{least} {'or' if most == least + 1 else 'to'} {most} arguments"


def argument_type(
    node: e.Call,
    index: int,
    value: Typed,
    parameter: Pattern,
    wanted: t.Type,
    context: Context,
) -> Diagnostic:
    """Return the diagnostic for an argument of the wrong type."""
    name, written = node.name.text.lower(), node.arguments[index]
    known = t.is_known(wanted) and wanted is not t.NULL
    takes = str(wanted) if known else str(parameter)
    if value.type == t.STRING and t.is_numeric(wanted):
        fix = text_for_number(value, written, wanted, context)
    elif t.is_numeric(value.type) and wanted in t.DATETIMES:
        fix = number_as_instant(context.text(written), wanted)
    elif known and can_cast(value.type, wanted):
        fix = f"write `CAST({context.text(written)} AS {wanted})`"
    elif t.is_numeric(value.type) and parameter.name == "MOMENT":
        fix = number_as_instant(context.text(written), t.TIMESTAMP)
    elif value.type == t.STRING and parameter.name in ("N", "NUMBER", "INTEGRAL"):
        fix = text_for_number(value, written, t.DOUBLE, context)
    else:
        fix = f"give it {_with_article(takes)}"
    chooses = name in ONE_OF_MANY_TYPES and index > 0 and known
    what = f"`{name}` has {takes} before" if chooses else f"`{name}` takes {takes} here"
    return Diagnostic(
        codes.NO_COMMON_TYPE if chooses else codes.ARGUMENT_TYPE,
        f"{what}, but `{context.text(written)}` is {value.type}",
        Label(written.span, str(value.type)),
        help=fix,
    )


def _with_article(what: str) -> str:
    if not what[0].isupper():
        return what
    return f"an {what}" if what[0] in "AI" else f"a {what}"


def bad_combination(node: e.Call, arguments: Sequence[Typed]) -> Diagnostic:
    """Return the diagnostic for arguments whose types are incompatible."""
    given = ", ".join(str(argument.type) for argument in arguments)
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{node.name.text.lower()}` does not accept ({given})",
        Label(node.span),
        help="give it arguments of compatible types",
    )


def misplaced_lambda(node: e.Call, argument: e.Lambda) -> Diagnostic:
    """Return the diagnostic for a lambda where a value is expected."""
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{node.name.text.lower()}` does not take a lambda here",
        Label(argument.span),
        help="give it a value",
    )


def missing_lambda(node: e.Call, argument: e.Expression, context: Context) -> Diagnostic:
    """Return the diagnostic for a value where a lambda is expected."""
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{node.name.text.lower()}` takes a lambda here, not a value",
        Label(argument.span),
        help=f"write `x -> {context.text(argument)}`",
    )


def lambda_parameters(node: e.Call, argument: e.Lambda, count: int) -> Diagnostic:
    """Return the diagnostic for a lambda with a wrong number of parameters."""
    names = ", ".join("xyz"[:count])
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`{node.name.text.lower()}` passes {count} values to its lambda, but this one takes "
        f"{len(argument.parameters)}",
        Label(argument.span),
        help=f"write `({names}) -> …`",
    )


def lambda_result(node: e.Call, argument: e.Lambda, type_: t.Type, wanted: t.Type) -> Diagnostic:
    """Return the diagnostic for a lambda with a result of the wrong type."""
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        (
            f"`{node.name.text.lower()}` needs a lambda that returns {wanted}, but this one "
            f"returns {type_}"
        ),
        Label(argument.body.span, str(type_)),
        help=f"cast the result, as in `CAST(… AS {wanted})`",
    )
