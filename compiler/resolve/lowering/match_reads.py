"""The meaning of names and calls in DEFINE and MEASURES: the tried row, and rows before it.

``B.price`` is the last row of B, in the condition of B itself the tried one; a bare name is the
last row of the match so far. FIRST and LAST count from either end, PREV goes back from the tried
row; aggregates are over the rows of a variable, or over all rows.
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import children, rewrite, walk
from ....dsl.reports.diagnostics import Diagnostic
from ...model.aggregates import aggregate
from ...model.declared import DeclaredCall, UserAggregate
from ...model.typed import Typed
from ..expressions.calls import aggregate_clause
from ..expressions.resolve import check
from ..expressions.typing import Context, typed, unknown
from ..programs.reads import PROGRAM, clocked
from .match_aggregates import typed_aggregate
from .match_rows import match_number
from .match_scope import MatchScope, PatternCall, one_variable, unreadable
from .placeholders import function_of

_NAVIGATION = frozenset({"first", "last", "prev", "next"})
_OF_MATCHES = frozenset({"classifier", "match_number"})
_FARTHEST = 100


def checked(node: e.Expression, scope: MatchScope) -> Typed:
    """Return a resolved expression of a pattern, UNKNOWN once a mistake is reported."""
    wrapped = rewrite(node, _wrapped)
    return clocked(check(wrapped, scope, PROGRAM, scope.diagnostics))


def _wrapped(node: Node) -> Node | None:
    if isinstance(node, DeclaredCall) and isinstance(node.function, UserAggregate):
        return PatternCall(node.span, node)
    if not isinstance(node, e.Call):
        return None
    name = node.name.text.lower()
    if name in _NAVIGATION | _OF_MATCHES or aggregate(name) is not None:
        return PatternCall(node.span, node)
    return None


def _reads_rows(node: Node) -> bool:
    """Return whether a node is a call that reads rows, except CLASSIFIER() of the row itself."""
    return _wrapped(node) is not None and not _is_classifier(node)


def _is_classifier(node: Node) -> bool:
    return isinstance(node, e.Call) and node.name.text.lower() == "classifier"


def _classified(node: Node) -> Node | None:
    return _wrapped(node) if _is_classifier(node) else None


@typed.register(PatternCall)
def _typed_call(wrapped: PatternCall, context: Context) -> Typed:
    node, scope = wrapped.call, context.scope
    assert isinstance(scope, MatchScope)
    call = node.call if isinstance(node, DeclaredCall) else node
    name = function_of(node)
    if context.lambdas:
        context.report(_in_lambda(call))
        return unknown(call)
    if any(_reads_rows(one) for inner in children(call) for one in walk(inner)):
        context.report(unreadable(call, "a call that reads rows is nested in another", _ONE_CALL))
        return unknown(call)
    if name in _OF_MATCHES:
        return _of_match(call, scope, context)
    # Its argument may use the variable of its row.
    inside = rewrite(node, _classified)
    if name in _NAVIGATION and isinstance(inside, e.Call):
        return _navigation(inside, scope, context)
    return typed_aggregate(inside, scope, context)


def _of_match(node: e.Call, scope: MatchScope, context: Context) -> Typed:
    """Return CLASSIFIER(), the variable of a row, or MATCH_NUMBER()."""
    name = node.name.text.lower()
    if node.arguments or aggregate_clause(node) is not None:
        fix = f"write `{name.upper()}()`"
        context.report(unreadable(node, f"`{name}` takes no arguments", fix))
        return unknown(node)
    if name == "classifier":
        return scope.classifier(node)
    if scope.tried is not None:
        fix = "a match gets its number when it is complete: use it in MEASURES"
        context.report(unreadable(node, "MATCH_NUMBER is not for DEFINE", fix))
        return unknown(node)
    return match_number(node.span)


_ONE_CALL = "write FIRST, LAST or PREV around single columns, as in `LAST(B.price, 1)`"


def _navigation(node: e.Call, scope: MatchScope, context: Context) -> Typed:
    name = node.name.text.lower()
    place = _place(node)
    if name == "next":
        context.report(unreadable(node, "NEXT would read rows that have not arrived yet", _NO_NEXT))
    elif place is None:
        context.report(
            unreadable(node, f"{name.upper()} takes columns and a number of rows", _ONE_CALL)
        )
    elif name == "prev" and scope.tried is None:
        context.report(unreadable(node, "PREV is for DEFINE: it goes back from a row", _ONE_CALL))
    else:
        end = "last" if name == "prev" and place == 0 else name
        inner = replace(scope, place=(end, place), met=set())
        value = check(node.arguments[0], inner, PROGRAM, context.diagnostics)
        scope.back = max(scope.back, inner.back)
        problem = one_variable(node, inner.met)
        if problem is None and name == "prev" and not inner.met <= {None, scope.tried}:
            problem = unreadable(node, "PREV counts back from the row being tested", _ONE_CALL)
        if problem is not None:
            context.report(problem)
            return unknown(node)
        return value
    return unknown(node)


_NO_NEXT = "match the next row with another variable, and compare that with this one"


def _place(node: e.Call) -> int | None:
    """Return how many rows from its end a call reads, None for something else."""
    if not 1 <= len(node.arguments) <= 2 or node.distinct or node.filter or node.order_by:
        return None
    if len(node.arguments) == 1:
        return 1 if node.name.text.lower() == "prev" else 0
    count = node.arguments[1]
    if not isinstance(count, e.NumberLiteral) or not count.text.isdigit():
        return None
    return int(count.text) if int(count.text) <= _FARTHEST else None


def _in_lambda(node: e.Call) -> Diagnostic:
    message = f"`{node.name}` of rows is not allowed in a lambda"
    return unreadable(node, message, "compute it outside the lambda")
