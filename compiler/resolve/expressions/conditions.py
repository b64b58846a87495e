"""Conditions and choices: IS, BETWEEN, IN, LIKE, CASE."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.typed import Typed
from .comparisons import require_comparable, unified, with_names_of
from .typing import Context, require_boolean, typed


@typed.register(e.IsTest)
def _typed_is(node: e.IsTest, context: Context) -> Typed:
    operand = typed(node.operand, context)
    if node.test != "NULL":
        require_boolean(operand, node.operand, context, f"`IS {node.test}`")
    resolved = e.IsTest(node.span, operand.expression, node.test, node.negated)
    return Typed(resolved, t.BOOLEAN, nullable=False)


@typed.register(e.IsDistinct)
def _typed_is_distinct(node: e.IsDistinct, context: Context) -> Typed:
    left, right = typed(node.left, context), typed(node.right, context)
    require_comparable(left, right, (node.left, node.right), context, "`IS DISTINCT FROM`")
    resolved = e.IsDistinct(node.span, left.expression, right.expression, node.negated)
    return Typed(resolved, t.BOOLEAN, nullable=False)


@typed.register(e.Between)
def _typed_between(node: e.Between, context: Context) -> Typed:
    operand = typed(node.operand, context)
    low, high = typed(node.low, context), typed(node.high, context)
    require_comparable(operand, low, (node.operand, node.low), context, "`BETWEEN`")
    require_comparable(operand, high, (node.operand, node.high), context, "`BETWEEN`")
    resolved = e.Between(
        node.span, operand.expression, low.expression, high.expression, node.negated
    )
    nullable = operand.nullable or low.nullable or high.nullable
    return Typed(resolved, t.BOOLEAN, nullable)


@typed.register(e.InList)
def _typed_in(node: e.InList, context: Context) -> Typed:
    operand = typed(node.operand, context)
    items = [typed(with_names_of(operand.type, item), context) for item in node.items]
    for value, item in zip(items, node.items, strict=True):
        require_comparable(operand, value, (node.operand, item), context, "`IN`")
    expressions = tuple(item.expression for item in items)
    resolved = e.InList(node.span, operand.expression, expressions, node.negated)
    nullable = operand.nullable or any(item.nullable for item in items)
    return Typed(resolved, t.BOOLEAN, nullable)


@typed.register(e.Like)
def _typed_like(node: e.Like, context: Context) -> Typed:
    operand, pattern = typed(node.operand, context), typed(node.pattern, context)
    for value, written in ((operand, node.operand), (pattern, node.pattern)):
        if value.type != t.STRING and not t.is_open(value.type):
            context.report(_no_text(node.operator, written, value.type, context))
    resolved = e.Like(
        *(node.span, operand.expression, node.operator, pattern.expression),
        *(node.escape, node.negated),
    )
    return Typed(resolved, t.BOOLEAN, operand.nullable or pattern.nullable)


@typed.register(e.LikeAny)
def _typed_like_any(node: e.LikeAny, context: Context) -> Typed:
    operand, *patterns = (typed(one, context) for one in (node.operand, *node.patterns))
    written = (node.operand, *node.patterns)
    for value, one in zip((operand, *patterns), written, strict=True):
        if value.type != t.STRING and not t.is_open(value.type):
            context.report(_no_text(node.operator, one, value.type, context))
    resolved = e.LikeAny(
        *(node.span, operand.expression, node.operator, node.quantifier),
        *(tuple(pattern.expression for pattern in patterns), node.negated),
    )
    return Typed(resolved, t.BOOLEAN, any(value.nullable for value in (operand, *patterns)))


@typed.register(e.Case)
def _typed_case(node: e.Case, context: Context) -> Typed:
    operand = typed(node.operand, context) if node.operand is not None else None
    whens: list[e.When] = []
    results: list[Typed] = []
    for when in node.whens:
        condition, result = typed(when.condition, context), typed(when.result, context)
        if operand is None or node.operand is None:
            require_boolean(condition, when.condition, context, "`CASE WHEN`")
        else:
            pair = (node.operand, when.condition)
            require_comparable(operand, condition, pair, context, "`CASE`")
        whens.append(e.When(when.span, condition.expression, result.expression))
        results.append(result)
    written = [when.result for when in node.whens]
    if node.otherwise is not None:
        results.append(typed(node.otherwise, context))
        written.append(node.otherwise)
    otherwise = results[-1].expression if node.otherwise is not None else None
    subject = operand.expression if operand is not None else None
    resolved = e.Case(node.span, subject, tuple(whens), otherwise)
    type_ = unified(results, written, context, "`CASE`")
    nullable = otherwise is None or any(
        result.nullable or (result.type == t.STRING != type_) for result in results
    )
    return Typed(resolved, type_, nullable)


def _no_text(operator: str, operand: e.Expression, type_: t.Type, context: Context) -> Diagnostic:
    written = context.text(operand)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`{operator}` takes a string, but `{written}` is {type_}",
        Label(operand.span, str(type_)),
        help=f"write `CAST({written} AS STRING)`",
    )
