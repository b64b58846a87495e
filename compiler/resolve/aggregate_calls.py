"""Calls of aggregates: where they may stand, what they take, what this version runs."""

from __future__ import annotations

from ...dsl import codes
from ...dsl.ast import expressions as e
from ...dsl.ast.node import Name
from ...dsl.diagnostics import Diagnostic, Label
from ..model import types as t
from ..model.aggregates import AggregateFunction, aggregate
from ..model.typed import Typed
from .comparisons import text_for_number
from .not_built import not_built
from .typing import Context, FoundAggregate, require_boolean, typed, unknown

_TAKEN = {
    "boolean": "a condition",
    "integral": "a whole number",
    "number": "a number",
    "numeric": "a number or an interval",
    "orderable": "a value with an order",
}


def typed_aggregate(node: e.Call, context: Context) -> Typed:
    """Return a call of an aggregate under the function's own name (MEAN is AVG), and its type."""
    plain = aggregate(node.name.text)
    found = aggregate(node.name.text, distinct=True) if node.distinct else plain
    if plain is None or not _may_stand(node, plain, context):
        return unknown(node)
    arguments = [_counted(argument, node, plain) for argument in _arguments(node, plain, context)]
    condition = _condition(node, context)
    resolved = e.Call(
        node.span,
        Name(node.name.span, plain.name),
        tuple(argument.expression for argument in arguments),
        distinct=node.distinct,
        filter=condition,
    )
    if not _is_built(node, plain, found) or found is None:
        context.report(_not_built(node, plain))
        return unknown(resolved)
    if not _check_arguments(node, found, arguments, context):
        return unknown(resolved)
    types = tuple(argument.type for argument in arguments if not _is_star(argument.expression))
    context.found.append(FoundAggregate(resolved, found, types))
    return Typed(resolved, found.result(types), found.nullable)


def _may_stand(node: e.Call, found: AggregateFunction, context: Context) -> bool:
    if context.inside is not None:
        context.report(_nested(node, context.inside, context))
    elif not context.clause.aggregates or context.lambdas:
        context.report(_misplaced(node, found, context))
    else:
        return True
    return False


def _arguments(node: e.Call, found: AggregateFunction, context: Context) -> list[Typed]:
    inner = context.within(node)
    counts_rows = found.name == "count" and len(node.arguments) == 1 and not node.distinct
    return [
        Typed(argument, t.BIGINT, nullable=False)
        if counts_rows and isinstance(argument, e.Star) and argument.qualifier is None
        else typed(argument, inner)
        for argument in node.arguments
    ]


def _counted(argument: Typed, node: e.Call, found: AggregateFunction) -> Typed:
    """Return what is counted: COUNT(1) counts rows, in one cell with COUNT(*), as Spark has it.

    So does any computed value that is never NULL. Columns are left alone: those of a source are
    NOT NULL to the language only.
    """
    computed = not isinstance(argument.expression, (e.ColumnRef, e.Star)) and not argument.nullable
    if found.name == "count" and len(node.arguments) == 1 and computed and not node.distinct:
        return Typed(e.Star(argument.expression.span), t.BIGINT, nullable=False)
    return argument


def _condition(node: e.Call, context: Context) -> e.Expression | None:
    if node.filter is None:
        return None
    value = typed(node.filter, context.within(node))
    require_boolean(value, node.filter, context, "FILTER")
    return value.expression


def _is_built(node: e.Call, plain: AggregateFunction, found: AggregateFunction | None) -> bool:
    if found is None or not plain.built or node.order_by or node.nulls:
        return False
    return not node.distinct or len(node.arguments) <= 1


def _is_star(expression: e.Expression) -> bool:
    return isinstance(expression, e.Star)


def _check_arguments(
    node: e.Call, found: AggregateFunction, arguments: list[Typed], context: Context
) -> bool:
    count = len(arguments)
    if count < found.least or (found.most is not None and count > found.most):
        context.report(_argument_count(node, found))
        return False
    fits = True
    for i, argument in enumerate(arguments):
        wanted = found.takes[min(i, len(found.takes) - 1)]
        if not t.is_open(argument.type) and not _takes(wanted, argument.type):
            context.report(_argument_type(node, i, argument, wanted, context))
            fits = False
    return fits


def _takes(wanted: str, type_: t.Type) -> bool:
    match wanted:
        case "boolean":
            return type_ == t.BOOLEAN
        case "integral":
            return t.is_integral(type_)
        case "number":
            return t.is_numeric(type_)
        case "numeric":
            return t.is_numeric(type_) or isinstance(type_, t.IntervalType)
        case "orderable":
            return t.is_orderable(type_)
    return True


def _nested(node: e.Call, outer: e.Call, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.NESTED_AGGREGATE,
        f"`{context.text(node)}` is an aggregate inside of one",
        Label(node.span),
        secondary=(Label(outer.name.span, "in this one"),),
        help="aggregate in one stream, and aggregate that stream in a second",
    )


def _misplaced(node: e.Call, found: AggregateFunction, context: Context) -> Diagnostic:
    clause = context.clause.name
    place = "a lambda" if context.lambdas else clause
    fix = "aggregate in a stream of its own, and use its column here"
    if clause == "WHERE" and not context.lambdas:
        fix = f"move the condition to HAVING: `HAVING {context.text(node)} …`"
    return Diagnostic(
        codes.MISPLACED_AGGREGATE,
        f"`{found.name}` is an aggregate, {place} has no room for one",
        Label(node.span),
        help=fix,
    )


def _not_built(node: e.Call, found: AggregateFunction) -> Diagnostic:
    name = found.name.upper()
    if not found.built:
        return not_built(f"the aggregate `{name}`", node.span)
    if node.distinct:
        feature = f"`{name}(DISTINCT …)`"
        if found.name == "count":
            return not_built(f"{feature} of several values", node.span, "count one value")
        if found.name in ("min", "max", "bool_and", "bool_or"):
            return not_built(feature, node.span, "leave DISTINCT out: it changes nothing here")
        return not_built(feature, node.span, "deduplicate in a stream before, by DISTINCT ON")
    clause = "ORDER BY" if node.order_by else f"{node.nulls} NULLS"
    return Diagnostic(
        codes.NOT_AN_AGGREGATE,
        f"`{found.name}` depends on no order, so it takes no {clause}",
        Label(node.span),
        help=f"remove {clause}",
    )


def _argument_count(node: e.Call, found: AggregateFunction) -> Diagnostic:
    takes = f"{found.least} argument{'' if found.least == 1 else 's'}"
    more = " or more" if found.most is None else ""
    fix = "count rows by `COUNT(*)`" if found.name == "count" else f"give it {takes}"
    return Diagnostic(
        codes.ARGUMENT_COUNT,
        f"`{found.name}` takes {takes}{more}, not {len(node.arguments)}",
        Label(node.span),
        help=fix,
    )


def _argument_type(
    node: e.Call, index: int, value: Typed, wanted: str, context: Context
) -> Diagnostic:
    argument = node.arguments[index]
    written = context.text(argument)
    fix = f"give it {_TAKEN[wanted]}"
    if value.type == t.STRING and wanted in ("integral", "number", "numeric"):
        target = t.BIGINT if wanted == "integral" else t.DOUBLE
        fix = text_for_number(value, argument, target, context)
    return Diagnostic(
        codes.ARGUMENT_TYPE,
        f"`{node.name.text.lower()}` takes {_TAKEN[wanted]}, `{written}` is {value.type}",
        Label(argument.span, str(value.type)),
        help=fix,
    )
