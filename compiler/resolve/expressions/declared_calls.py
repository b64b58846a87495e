"""Calls of functions and aggregates that the spec declares.

A SQL function is replaced by its body, a user aggregate by its result over Spark's own: the
expression is then what one would have written without them. A Python function stays a call.
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.coercion import can_cast
from ...model.declared import (
    DeclaredCall,
    DeclaredFunction,
    Parameter,
    PythonFunction,
    SqlFunction,
    UserAggregate,
)
from ...model.functions import aggregate, function
from ...model.typed import Typed
from ..scopes.substitution import substituted
from .aggregate_calls import filter_condition, may_stand
from .call_diagnostics import counted, not_an_aggregate
from .calls import aggregate_clause
from .conversions import converted
from .typing import Context, FoundAggregate, typed

_KLL_SIZE = {
    f"kll_sketch_agg_{type_}": f"kll_sketch_get_n_{type_}"
    for type_ in ("bigint", "float", "double")
}


@typed.register(DeclaredCall)
def _typed_declared(node: DeclaredCall, context: Context) -> Typed:
    found, call = node.function, node.call
    if found is None:
        return _nothing(call)
    if isinstance(found, UserAggregate):
        return _aggregate(call, found, context)
    clause = aggregate_clause(call)
    if clause is not None:
        context.report(not_an_aggregate(call, clause))
    arguments = _checked_arguments(call, found, context)
    if arguments is None:
        return _nothing(call)
    if isinstance(found, PythonFunction):
        result = _python(call, found, arguments)
    else:
        result = _inlined(found, arguments)
    return _nothing(call) if _misplaced(call, result, context) else result


def _nothing(call: e.Call) -> Typed:
    """Return the result of a call whose mistakes, also in its columns, have been reported."""
    return Typed(e.NullLiteral(call.span), t.UNKNOWN)


def _checked_arguments(
    call: e.Call, found: DeclaredFunction, context: Context
) -> dict[str, Typed] | None:
    """Return the arguments by the parameters' names in lower case, None after a report."""
    if len(call.arguments) != len(found.parameters):
        context.report(_argument_count(call, found))
        return None
    values: dict[str, Typed] = {}
    fit = True
    for parameter, argument in zip(found.parameters, call.arguments, strict=True):
        value = typed(argument, context)
        inside = converted(value, parameter.type, context)
        if inside is None:
            context.report(_argument_type(call, argument, value, parameter, context))
            fit = False
        else:
            values[parameter.name.lower()] = inside
    return values if fit else None


def _inlined(found: SqlFunction, arguments: dict[str, Typed]) -> Typed:
    values = {name: value.expression for name, value in arguments.items()}
    return replace(found.body, expression=substituted(found.body.expression, values))


def _python(call: e.Call, found: PythonFunction, arguments: dict[str, Typed]) -> Typed:
    resolved = e.Call(
        call.span,
        Name(call.name.span, found.name),
        tuple(arguments[p.name.lower()].expression for p in found.parameters),
    )
    return Typed(resolved, found.returns.type)


def _aggregate(call: e.Call, found: UserAggregate, context: Context) -> Typed:
    """Return LOWER over the accumulators as aggregates of Spark, each noted."""
    if not may_stand(call, found.name, context):
        return _nothing(call)
    condition = filter_condition(call, context)
    if call.distinct or call.order_by or call.nulls:
        context.report(_no_clause(call, found))
        return _nothing(call)
    arguments = _checked_arguments(call, found, context.within(call))
    if arguments is None:
        return _nothing(call)
    values = {name: value.expression for name, value in arguments.items()}
    read: dict[str, e.Expression] = {}
    for part in found.accumulators:
        lifted = substituted(part.lift.expression, values)
        name = Name(call.name.span, part.function.name)
        native = e.Call(call.span, name, (lifted,), filter=condition)
        context.found.append(FoundAggregate(native, part.function, (part.lift.type,)))
        read[part.name.lower()] = _as_read(native)
    return replace(found.lower, expression=substituted(found.lower.expression, read))


def _as_read(native: e.Call) -> e.Expression:
    """Return an aggregate as LOWER sees it.

    A list is sorted by value. A sketch without quantiles is NULL: reading one from it would be an
    error, which ends the query.
    """
    span, name = native.span, native.name.text
    if name == "collect_list":
        return e.Call(span, Name(span, "sort_array"), (native,))
    if name not in _KLL_SIZE:
        return native
    size = e.Call(span, Name(span, _KLL_SIZE[name]), (native,))
    is_filled = e.Binary(span, ">", size, e.NumberLiteral(span, "0"))
    return e.Case(span, None, (e.When(span, is_filled, native),), None)


def _misplaced(call: e.Call, result: Typed, context: Context) -> bool:
    """Report a Python function where Spark runs none: in a lambda, a condition of ON, a program."""
    python = [node for node in walk(result.expression) if is_python_call(node)]
    if not python:
        return False
    hidden = [
        node
        for fn in walk(result.expression)
        if isinstance(fn, e.Lambda)
        for node in walk(fn.body)
        if is_python_call(node)
    ]
    where = "a lambda" if context.lambdas or hidden else None
    if context.clause.name == "ON":
        where = "the condition of a join"
    elif context.clause.name == "a program":
        where = context.clause.name
    if where is not None:
        context.report(no_python_here(call, where))
    return where is not None


def is_python_call(node: object) -> bool:
    """Return whether a resolved expression is a call of a Python function."""
    if not isinstance(node, e.Call):
        return False
    return function(node.name.text) is None and aggregate(node.name.text) is None


def no_python_here(call: e.Call, where: str) -> Diagnostic:
    """Return the diagnostic for a Python function where Spark runs none."""
    return Diagnostic(
        codes.PYTHON_PLACE,
        f"Spark cannot call a Python function in {where}",
        Label(call.span),
        help="compute it under a name in an earlier stream, and use the column here"
        if where != "a lambda"
        else "give the function the whole array: a Series of arrays comes in, one goes out",
    )


def _no_clause(call: e.Call, found: UserAggregate) -> Diagnostic:
    clause = "DISTINCT" if call.distinct else "ORDER BY" if call.order_by else f"{call.nulls} NULLS"
    return Diagnostic(
        codes.AGGREGATE_FORM,
        f"`{found.name}` takes no {clause}: it is defined by its LIFT and COMBINE",
        Label(call.span),
        secondary=(Label(found.span, "declared here"),),
        help="deduplicate in an earlier stream, by DISTINCT ON"
        if call.distinct
        else f"remove {clause}",
    )


def _argument_count(call: e.Call, found: DeclaredFunction) -> Diagnostic:
    count = len(found.parameters)
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`{found.name}` takes {counted(count, count)}, not {len(call.arguments)}",
        Label(call.span),
        secondary=(Label(found.span, "declared here"),),
        help="add the missing ones" if len(call.arguments) < count else "remove the extra ones",
    )


def _argument_type(
    call: e.Call, argument: e.Expression, value: Typed, parameter: Parameter, context: Context
) -> Diagnostic:
    written, wanted = context.text(argument), parameter.type.type
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{call.name.text.lower()}` takes {wanted} as `{parameter.name}`, but `{written}` is "
        f"{value.type}",
        Label(argument.span, str(value.type)),
        help=f"write `CAST({written} AS {wanted})`"
        if can_cast(value.type, wanted)
        else f"give it a value of type {wanted}",
    )
