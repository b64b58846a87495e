"""Aggregates over the rows of a match, each computed from the fields of an attempt.

COUNT(B.*)       count_b
AVG(B.price)     avg_sum_b_price / nullif(count_b_price, 0)
STDDEV(price)    stddev_samp_m2_price, …, the fields of its fold
LISTAGG(kind)    list_kind, the values in the order of the rows
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.reports.diagnostics import Diagnostics
from ...model import types as t
from ...model.declared import DeclaredCall
from ...model.typed import Typed
from ..expressions.resolve import check
from ..expressions.typing import Context, unknown
from ..programs.reads import PROGRAM, clocked
from . import folds, value_lists
from .builders import call, cast, number
from .frames import EXTREMES, RowsCall, lowered
from .match_scope import MatchScope, one_variable, unreadable
from .placeholders import AnyCall, function_of
from .rows_calls import RowsCalls

_BY_PLACE = {"first_value": "FIRST", "any_value": "FIRST", "last_value": "LAST"}


def typed_aggregate(node: AnyCall, scope: MatchScope, context: Context) -> Typed:
    """Return an aggregate over the rows of a variable, or over all rows of the match."""
    written = node.call if isinstance(node, DeclaredCall) else node
    name = function_of(node)
    if name in _BY_PLACE:
        fix = f"write `{_BY_PLACE[name]}(B.price)`"
        context.report(
            unreadable(written, f"rows are ordered here, so `{name}` does not apply", fix)
        )
        return unknown(written)
    inner = replace(scope, row=True, met=set())
    plain = _unqualified(node, inner, context)
    found = None
    if plain is not None:
        found = RowsCalls(inner, "MATCH_RECOGNIZE", context.diagnostics).resolve(plain, name)
    problem = one_variable(written, inner.met)
    if problem is not None:
        context.report(problem)
    if found is None or problem is not None:
        return unknown(written)
    value = _aggregate(_counting(found, written, inner), next(iter(inner.met), None), scope)
    return Typed(value, found.type, found.nullable)


def _unqualified(node: AnyCall, scope: MatchScope, context: Context) -> AnyCall | None:
    """Return a call with `B.*` as the rows of B, None after a report."""
    if isinstance(node, DeclaredCall) or len(node.arguments) != 1:
        return node
    star = node.arguments[0]
    if not isinstance(star, e.Star) or star.qualifier is None or function_of(node) != "count":
        return node
    variable = star.qualifier.text.lower()
    if variable not in scope.variables:
        known = ", ".join(sorted(name.upper() for name in scope.variables))
        what = f"there is no `{star.qualifier}` in PATTERN"
        context.report(unreadable(node, what, f"it has {known}"))
        return None
    scope.met.add(variable)
    return replace(node, arguments=(e.Star(star.span),))


def _counting(found: RowsCall, node: e.Call, scope: MatchScope) -> RowsCall:
    """Return COUNT of a value that is never NULL as a count of rows."""
    if found.function != "count" or found.value is None or node.filter is not None:
        return found
    if len(node.arguments) != 1 or node.distinct:
        return found
    quiet = Diagnostics(scope.diagnostics.source)
    value = check(node.arguments[0], scope, PROGRAM, quiet)
    return found if value.nullable else replace(found, value=None)


def _aggregate(found: RowsCall, variable: str | None, scope: MatchScope) -> e.Expression:
    memory = scope.memory
    if found.lower is not None:
        values = {one.native: _aggregate(one.call, variable, scope) for one in found.parts}
        return lowered(found.lower, values)
    if found.value is None:
        return scope.remembered(memory.count(variable)).expression
    given, function = clocked(found.value), found.function
    match function:
        case "count":
            return scope.remembered(memory.known(variable, given)).expression
        case "sum":
            return scope.remembered(memory.total(variable, given, found.type)).expression
        case "avg":
            return _mean(variable, given, found.type, scope)
        case "min" | "max" | "bool_and" | "bool_or":
            extreme = memory.extreme(EXTREMES[function], variable, given)
            return scope.remembered(extreme).expression
    if function in folds.FOLDED:
        held = memory.folded(variable, given, function)
        fold = folds.fold(function, given.type, memory.span)
        return fold.value([scope.remembered(one).expression for one in held])
    listed = scope.remembered(memory.listed(variable, given)).expression
    if function in value_lists.SETS:
        return value_lists.distinct(function, listed)
    return value_lists.of_list(function, listed, found.constants, found.type)


def _mean(variable: str | None, value: Typed, result: t.Type, scope: MatchScope) -> e.Expression:
    memory, span = scope.memory, scope.memory.span
    kept = result
    if isinstance(value.type, t.Decimal):
        kept = t.decimal(value.type.precision + 10, value.type.scale)
    total = scope.remembered(memory.total(variable, value, kept, "avg_sum")).expression
    known = scope.remembered(memory.known(variable, value)).expression
    mean = e.Binary(span, "/", total, call(span, "nullif", known, number(span, 0)))
    return mean if result == t.DOUBLE else cast(mean, result)
