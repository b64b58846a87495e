"""Calls of aggregates: where they are allowed, their clauses, their meaning."""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.aggregate_cells import registers
from ...model.aggregates import AggregateFunction, aggregate
from ...model.typed import Typed
from .aggregate_arguments import checked_arguments
from .correlation import correlation
from .ordered_aggregates import ORDERED, ordered
from .typing import Context, FoundAggregate, require_boolean, typed, unknown


def typed_aggregate(node: e.Call, context: Context) -> Typed:
    """Return a call of an aggregate under its canonical name (MEAN is AVG), and its type."""
    found = aggregate(node.name.text, distinct=node.distinct)
    if found is None or not may_stand(node, found.name, context):
        return unknown(node)
    name = "count" if found.name == "count_distinct" else found.name
    arguments = [_counted(argument, node, name) for argument in _arguments(node, name, context)]
    condition = filter_condition(node, context)
    resolved = e.Call(
        node.span,
        Name(node.name.span, name),
        tuple(argument.expression for argument in arguments),
        distinct=node.distinct and found.name == "count_distinct",
        filter=condition,
    )
    problem = _clause(node, found)
    if problem is not None:
        context.report(problem)
        return unknown(resolved)
    checked = checked_arguments(node, found, arguments, context)
    if checked is None:
        return unknown(resolved)
    if name in ORDERED or node.order_by:
        return ordered(node, resolved, checked, context) or unknown(resolved)
    if name == "corr":
        return correlation(resolved, checked, context)
    return _noted(node, resolved, found, checked, context)


def _noted(
    node: e.Call,
    call: e.Call,
    found: AggregateFunction,
    arguments: list[Typed],
    context: Context,
) -> Typed:
    """Return the call for Spark, and note its cells."""
    if found.name == "count_distinct" and len(arguments) > 1:
        call, arguments = _of_several(call, arguments)
    elif found.name == "any_value" and node.nulls == "IGNORE":
        arguments = [arguments[0], Typed(e.BooleanLiteral(node.span, True), t.BOOLEAN)]
    elif found.name == "mode":
        # Of equally frequent values the least one: Spark's own choice is random.
        arguments = [arguments[0], Typed(e.BooleanLiteral(node.span, True), t.BOOLEAN)]
    elif found.name == "approx_count_distinct" and len(arguments) > 1:
        error = arguments[1].expression
        assert isinstance(error, e.NumberLiteral)
        found = replace(found, buffers=registers(float(error.text)))
    call = replace(call, arguments=tuple(a.expression for a in arguments))
    types = tuple(a.type for a in arguments if not isinstance(a.expression, e.Star))
    context.found.append(FoundAggregate(call, found, types))
    return Typed(call, found.result(types), found.nullable)


def _of_several(call: e.Call, arguments: list[Typed]) -> tuple[e.Call, list[Typed]]:
    """Return COUNT(DISTINCT a, b) as the count of distinct structs without a NULL."""
    condition = call.filter
    for argument in arguments:
        if argument.nullable:
            known = e.IsTest(call.span, argument.expression, "NULL", negated=True)
            condition = known if condition is None else e.Binary(call.span, "AND", condition, known)
    struct = e.Call(call.span, Name(call.span, "struct"), call.arguments)
    # The fields are named by position: a renamed column is the same.
    fields = tuple(t.Field(f"col{n}", a.type) for n, a in enumerate(arguments, start=1))
    return replace(call, filter=condition), [Typed(struct, t.Struct(fields), nullable=False)]


def may_stand(node: e.Call, name: str, context: Context) -> bool:
    """Return whether an aggregate is allowed where a call is, after reporting why not."""
    if context.inside is not None:
        context.report(_nested(node, context.inside, context))
    elif not context.clause.aggregates or context.lambdas:
        context.report(_misplaced(node, name, context))
    else:
        return True
    return False


def _arguments(node: e.Call, name: str, context: Context) -> list[Typed]:
    inner = context.within(node)
    counts_rows = name == "count" and len(node.arguments) == 1 and not node.distinct
    return [
        Typed(argument, t.BIGINT, nullable=False)
        if counts_rows and isinstance(argument, e.Star) and argument.qualifier is None
        else typed(argument, inner)
        for argument in node.arguments
    ]


def _counted(argument: Typed, node: e.Call, name: str) -> Typed:
    """Return what is counted: COUNT(1) counts rows, sharing a cell with COUNT(*), as in Spark.

    So does any computed value that is never NULL. Columns are left alone: those of a source are
    NOT NULL to the language only.
    """
    computed = not isinstance(argument.expression, (e.ColumnRef, e.Star)) and not argument.nullable
    if name == "count" and len(node.arguments) == 1 and computed and not node.distinct:
        return Typed(e.Star(argument.expression.span), t.BIGINT, nullable=False)
    return argument


def filter_condition(node: e.Call, context: Context) -> e.Expression | None:
    """Return the condition of a call's FILTER, resolved."""
    if node.filter is None:
        return None
    value = typed(node.filter, context.within(node))
    require_boolean(value, node.filter, context, "FILTER")
    return value.expression


def _clause(node: e.Call, found: AggregateFunction) -> Diagnostic | None:
    """Return the diagnostic about DISTINCT, ORDER BY or IGNORE NULLS of a call."""
    if node.distinct and "DISTINCT" not in found.clauses:
        return _no_distinct(node, found)
    if node.order_by and "ORDER" not in found.clauses:
        return _no_clause(node, found, "ORDER BY")
    if node.nulls and "NULLS" not in found.clauses:
        return _no_clause(node, found, f"{node.nulls} NULLS")
    return None


def _nested(node: e.Call, outer: e.Call, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.NESTED_AGGREGATE,
        f"`{context.text(node)}` is an aggregate inside an aggregate",
        Label(node.span),
        secondary=(Label(outer.name.span, "inside this one"),),
        help="aggregate in one stream, and aggregate that stream in a second one",
    )


def _misplaced(node: e.Call, name: str, context: Context) -> Diagnostic:
    clause = context.clause.name
    place = "a lambda" if context.lambdas else clause
    fix = "aggregate in a separate stream, and use its column here"
    if clause == "WHERE" and not context.lambdas:
        fix = f"move the condition to HAVING: `HAVING {context.text(node)} …`"
    return Diagnostic(
        codes.MISPLACED_AGGREGATE,
        f"`{name}` is an aggregate, which {place} does not allow",
        Label(node.span),
        help=fix,
    )


def _no_distinct(node: e.Call, found: AggregateFunction) -> Diagnostic:
    fixes = {
        "sum": "sum a set, as in `AGGREGATE(COLLECT_SET(x), CAST(0 AS DOUBLE), (total, v) -> "
        "total + v)`",
        "listagg": "write `ARRAY_JOIN(ARRAY_AGG(DISTINCT x), ', ')`",
        "collect_list": "write `COLLECT_SET(x)`, or `ARRAY_AGG(DISTINCT x)` for a fixed order",
    }
    fallback = "deduplicate in an earlier stream, by DISTINCT ON"
    return Diagnostic(
        codes.AGGREGATE_FORM,
        f"Spark does not support `{found.name.upper()}(DISTINCT …)` in a stream",
        Label(node.span),
        help=fixes.get(found.name, fallback),
    )


def _no_clause(node: e.Call, found: AggregateFunction, clause: str) -> Diagnostic:
    if clause == "ORDER BY" and found.name in ("first_value", "last_value"):
        return _by_event_time(node, found)
    return Diagnostic(
        codes.NOT_AN_AGGREGATE,
        f"`{found.name}` does not depend on an order, so it takes no {clause}",
        Label(node.span),
        help=f"remove {clause}",
    )


def _by_event_time(node: e.Call, found: AggregateFunction) -> Diagnostic:
    """Return the diagnostic for ORDER BY in FIRST_VALUE, which suggests MIN_BY or MAX_BY."""
    item = node.order_by[0]
    least = (found.name == "first_value") is not item.descending
    value = ", ".join(sql(argument) for argument in node.arguments[:1])
    by = sql(item.expression)
    if len(node.order_by) > 1:
        by = f"STRUCT({', '.join(sql(other.expression) for other in node.order_by)})"
    return Diagnostic(
        codes.NOT_AN_AGGREGATE,
        f"`{found.name}` uses the event time, so it takes no ORDER BY",
        Label(node.span),
        help=f"write `{'MIN_BY' if least else 'MAX_BY'}({value}, {by})`, or remove ORDER BY",
    )
