"""Calls of functions: names, numbers and types of arguments, lambdas."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.functions import Function, aggregate, function
from ...model.rules import RULES
from ...model.signatures import Bindings, Pattern, Signature, accepts, filled
from ...model.typed import Typed
from ..foreign.functions import OTHER_WAYS, is_window_function, window_function
from ..scopes.names import dotted_parameter
from .aggregate_calls import typed_aggregate
from .calendar import is_by_unit, typed_by_unit
from .call_diagnostics import (
    ONE_OF_MANY_TYPES,
    argument_count,
    argument_type,
    bad_combination,
    lambda_parameters,
    lambda_result,
    misplaced,
    misplaced_lambda,
    misplaced_over,
    missing_lambda,
    not_an_aggregate,
    unfit_group,
    unknown_function,
)
from .literals import text_as_moment, texts_as_moments
from .typing import Context, typed, unknown


@typed.register(e.Row)
def _typed_row(node: e.Row, context: Context) -> Typed:
    name = Name(Span(node.span.start, node.span.start), "struct")
    return typed(e.Call(node.span, name, node.items), context)


@typed.register(e.Call)
def _typed_call(node: e.Call, context: Context) -> Typed:
    if node.over is not None:
        context.report(misplaced_over(node, context))
        return unknown(node)
    if is_by_unit(node):
        return typed_by_unit(node, context)
    if aggregate(node.name.text) is not None:
        return typed_aggregate(node, context)
    if is_window_function(node):
        context.report(window_function(node))
        return Typed(e.NullLiteral(node.span), t.UNKNOWN)
    found = function(node.name.text)
    if found is None:
        context.report(unknown_function(node))
        if context.clause.aggregates or node.name.text.lower() in OTHER_WAYS:
            # It may be an aggregate, whose arguments need not be keys: no word about these.
            return Typed(e.NullLiteral(node.span), t.UNKNOWN)
        return _untyped(node, context)
    if found.group != "scalar":
        context.report(unfit_group(node, found, context))
        return _untyped(node, context)
    clause = aggregate_clause(node)
    if clause is not None:
        context.report(not_an_aggregate(node, clause))
    count = len(node.arguments)
    if count < found.least or (found.most is not None and count > found.most):
        context.report(argument_count(node, found))
        return unknown(node)
    return _typed_scalar(node, found, context)


def _typed_scalar(node: e.Call, found: Function, context: Context) -> Typed:
    signature = found.signature
    named = any(isinstance(argument, e.NamedArgument) for argument in node.arguments)
    if signature is None or named:
        return _untyped(node, context)
    bound: Bindings = {}
    arguments: list[Typed] = []
    fits = True
    for i, argument in enumerate(node.arguments):
        parameter = signature.parameter(i)
        value = _typed_argument(node, argument, parameter, bound, context)
        if parameter is not None and node.name.text.lower() in ONE_OF_MANY_TYPES:
            before = [a for j, a in enumerate(arguments) if signature.parameter(j) == parameter]
            if texts_as_moments(before, value.type, context):
                bound[parameter.name] = value.type
        if parameter is not None and parameter.name != "fn":
            fits = _check_argument(node, i, value, parameter, bound, context) and fits
        fits = fits and (value.type is not t.UNKNOWN or parameter is None or parameter.name == "fn")
        arguments.append(value)
    type_ = _result(node, signature, arguments, bound, context) if fits else _certain(signature)
    return Typed(
        _resolved(node, arguments), type_, _nullable(found.name, signature, arguments, type_)
    )


def _certain(signature: Signature) -> t.Type:
    """Return the result that a function has whatever it is given, UNKNOWN if it depends."""
    return filled(signature.result, {}) if signature.result is not None else t.UNKNOWN


def _result(
    node: e.Call,
    signature: Signature,
    arguments: Sequence[Typed],
    bound: Bindings,
    context: Context,
) -> t.Type:
    if signature.result is not None:
        return filled(signature.result, bound)
    type_ = RULES[signature.rule or ""](arguments, bound)
    if type_ is None:
        context.report(bad_combination(node, arguments))
        return t.UNKNOWN
    return type_


def _may_be_read(argument: Typed, type_: t.Type) -> bool:
    """Return whether an argument is a text that becomes another type, for Spark maybe a NULL."""
    return argument.type == t.STRING and type_ != t.STRING


def _nullable(name: str, signature: Signature, arguments: Sequence[Typed], type_: t.Type) -> bool:
    if name in ("coalesce", "ifnull", "nvl"):
        return all(argument.nullable or _may_be_read(argument, type_) for argument in arguments)
    return not signature.never_null


def _typed_argument(
    node: e.Call,
    argument: e.Expression,
    parameter: Pattern | None,
    bound: Bindings,
    context: Context,
) -> Typed:
    wants_lambda = parameter is not None and parameter.name == "fn"
    if isinstance(argument, e.Lambda):
        if parameter is not None and wants_lambda:
            return _typed_lambda(node, argument, parameter, bound, context)
        context.report(misplaced_lambda(node, argument))
        return unknown(argument)
    if wants_lambda:
        context.report(missing_lambda(node, argument, context))
        return unknown(argument)
    return typed(argument, context)


def _typed_lambda(
    node: e.Call, argument: e.Lambda, parameter: Pattern, bound: Bindings, context: Context
) -> Typed:
    *patterns, result = parameter.inside
    names = [name.text.lower() for name in argument.parameters]
    if not len(patterns) - parameter.optional <= len(names) <= len(patterns):
        context.report(lambda_parameters(node, argument, len(patterns)))
        return unknown(argument)
    for name in argument.parameters:
        if "." in name.text:
            context.report(dotted_parameter(name))
            return unknown(argument)
    types = [filled(pattern, bound) for pattern in patterns]
    body = typed(argument.body, context.with_lambda(dict(zip(names, types, strict=False))))
    if not _accepts_body(result, body.type, bound):
        wanted = filled(result, bound)
        context.report(lambda_result(node, argument, body.type, wanted))
    return Typed(e.Lambda(argument.span, argument.parameters, body.expression), body.type)


def _accepts_body(result: Pattern, type_: t.Type, bound: Bindings) -> bool:
    """Spark casts no lambda's result: a hole that is bound must come out as it went in."""
    before = bound.get(result.name)
    if result.type is not None:
        return type_ == result.type or t.is_open(type_)
    if before is not None and before is not t.NULL and not t.is_open(type_):
        return type_ == before or before is t.UNKNOWN
    return accepts(result, type_, bound)


def _check_argument(
    node: e.Call, index: int, value: Typed, parameter: Pattern, bound: Bindings, context: Context
) -> bool:
    before = dict(bound)
    if accepts(parameter, value.type, bound):
        return True
    bound.clear()
    bound.update(before)
    wanted = filled(parameter, bound)
    if text_as_moment(value, wanted, context):
        return True
    context.report(argument_type(node, index, value, parameter, wanted, context))
    return False


def _untyped(node: e.Call, context: Context) -> Typed:
    """Resolve the arguments of a call whose result can't be told."""
    arguments: list[Typed] = []
    for argument in node.arguments:
        match argument:
            case e.Lambda(span, parameters, body):
                names = {name.text.lower(): t.UNKNOWN for name in parameters}
                inner = typed(body, context.with_lambda(dict(names)))
                arguments.append(unknown(e.Lambda(span, parameters, inner.expression)))
            case e.NamedArgument(span, name, value):
                inner = typed(value, context)
                arguments.append(Typed(e.NamedArgument(span, name, inner.expression), inner.type))
            case _:
                arguments.append(typed(argument, context))
    return unknown(_resolved(node, arguments))


def _resolved(node: e.Call, arguments: Sequence[Typed]) -> e.Call:
    name = Name(node.name.span, node.name.text.lower())
    return e.Call(node.span, name, tuple(argument.expression for argument in arguments))


def aggregate_clause(node: e.Call) -> str | None:
    """Return the clause of a call that only an aggregate may have."""
    if node.distinct:
        return "DISTINCT"
    if node.filter is not None:
        return "FILTER"
    if node.order_by:
        return "ORDER BY"
    return f"{node.nulls} NULLS" if node.nulls else None


@typed.register(e.Star)
def _typed_star(node: e.Star, context: Context) -> Typed:
    context.report(misplaced(node, "`*` stands for columns only in a select list and COUNT"))
    return unknown(node)


@typed.register(e.Lambda)
def _typed_bare_lambda(node: e.Lambda, context: Context) -> Typed:
    context.report(misplaced(node, "`->` makes a lambda only as an argument of a call"))
    return unknown(node)


@typed.register(e.NamedArgument)
def _typed_named_argument(node: e.NamedArgument, context: Context) -> Typed:
    context.report(misplaced(node, "`=>` names an argument only in a call"))
    return unknown(node)
