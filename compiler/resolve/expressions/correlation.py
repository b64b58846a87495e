"""CORR by other aggregates: Spark's own ends the query where a column is constant.

It divides by the product of the two deviations, which is then zero, and division by zero is an
error in Spark's SQL. Here the result is NULL:

    corr(x, y)    try_divide(covar_pop(x, y), stddev_pop(x) FILTER (WHERE y IS NOT NULL)
                                            * stddev_pop(y) FILTER (WHERE x IS NOT NULL))
"""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ...model import types as t
from ...model.aggregates import aggregate
from ...model.typed import Typed
from .typing import Context, FoundAggregate


def correlation(call: e.Call, arguments: list[Typed], context: Context) -> Typed:
    """Return the meaning of a call of CORR, and note its aggregates."""
    span, (x, y) = call.span, arguments
    covariance = _found(call, "covar_pop", (x, y), None, context)
    x_deviation = _found(call, "stddev_pop", (x,), y, context)
    y_deviation = _found(call, "stddev_pop", (y,), x, context)
    product = e.Binary(span, "*", x_deviation, y_deviation)
    return Typed(e.Call(span, Name(span, "try_divide"), (covariance, product)), t.DOUBLE)


def _found(
    call: e.Call, name: str, arguments: tuple[Typed, ...], with_: Typed | None, context: Context
) -> e.Call:
    """Return an aggregate over the rows of the call in which ``with_`` is not NULL."""
    condition = call.filter
    if with_ is not None and with_.nullable:
        known = e.IsTest(call.span, with_.expression, "NULL", negated=True)
        condition = known if condition is None else e.Binary(call.span, "AND", condition, known)
    function = aggregate(name)
    assert function is not None
    inner = e.Call(
        call.span,
        Name(call.name.span, name),
        tuple(a.expression for a in arguments),
        filter=condition,
    )
    context.found.append(FoundAggregate(inner, function, tuple(a.type for a in arguments)))
    return inner
