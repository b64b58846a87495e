"""Actions of ``expressions.lark``: operators, calls and windows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...contracts.records import dataclass
from ..ast.expressions import (
    Between,
    Binary,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Extract,
    FieldAccess,
    Frame,
    FrameBound,
    Index,
    InList,
    IsDistinct,
    IsTest,
    Lambda,
    Like,
    LikeAny,
    NamedArgument,
    Row,
    SortItem,
    Star,
    StringLiteral,
    Unary,
    VariantPath,
    When,
    WindowSpec,
)
from ..ast.node import Name
from ..ast.types import TypeNode
from ..reports.source import Span
from ..syntax.mistakes import long_star, not_a_parameter
from ..syntax.spelling import text_of


@dataclass(frozen=True, slots=True)
class NamedField(Expression):
    """``expression AS name`` in STRUCT, until the call is made."""

    expression: Expression
    name: Name


_SAME = {"!=": "<>", "==": "="}
_TRIMS = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def or_(span: Span, left: Expression, right: Expression) -> Expression:
    return Binary(span, "OR", left, right)


def and_(span: Span, left: Expression, right: Expression) -> Expression:
    return Binary(span, "AND", left, right)


def not_(span: Span, operand: Expression) -> Expression:
    return Unary(span, "NOT", operand)


def between(
    span: Span, operand: Expression, negation: str | None, low: Expression, high: Expression
) -> Expression:
    return Between(span, operand, low, high, negation is not None)


def in_list(
    span: Span, operand: Expression, negation: str | None, *items: Expression
) -> Expression:
    return InList(span, operand, items, negation is not None)


def like(
    span: Span,
    operand: Expression,
    negation: str | None,
    operator: str,
    pattern: Expression,
    escape: str | None,
) -> Expression:
    character = None if escape is None else text_of(escape)
    return Like(span, operand, operator.upper(), pattern, character, negation is not None)


def like_any(
    span: Span,
    operand: Expression,
    negation: str | None,
    operator: str,
    quantifier: str,
    *patterns: Expression,
) -> Expression:
    word = "ALL" if quantifier.upper() == "ALL" else "ANY"
    return LikeAny(span, operand, operator.upper(), word, patterns, negation is not None)


def rlike(
    span: Span, operand: Expression, negation: str | None, _operator: str, pattern: Expression
) -> Expression:
    return Like(span, operand, "RLIKE", pattern, None, negation is not None)


def is_test(span: Span, operand: Expression, negation: str | None, test: str) -> Expression:
    return IsTest(span, operand, test.upper(), negation is not None)


def is_distinct(
    span: Span, left: Expression, negation: str | None, right: Expression
) -> Expression:
    return IsDistinct(span, left, right, negation is not None)


def binary(span: Span, left: Expression, operator: str, right: Expression) -> Expression:
    return Binary(span, _SAME.get(operator) or operator.upper(), left, right)


def unary(span: Span, operator: str, operand: Expression) -> Expression:
    return Unary(span, operator, operand)


def column(span: Span, name: Name) -> ColumnRef:
    return ColumnRef(span, (name,))


def column_part(span: Span, owner: ColumnRef, name: Name) -> ColumnRef:
    return ColumnRef(span, (*owner.parts, name))


def variant_start(span: Span, operand: Expression, name: Name) -> VariantPath:
    return VariantPath(span, operand, name.text)


def variant_field(span: Span, owner: VariantPath, name: Name) -> VariantPath:
    return VariantPath(span, owner.operand, f"{owner.path}.{name.text}")


def variant_element(span: Span, owner: VariantPath, element: str) -> VariantPath:
    return VariantPath(span, owner.operand, f"{owner.path}[{element}]")


def field_access(span: Span, operand: Expression, name: Name) -> Expression:
    return FieldAccess(span, operand, name)


def index(span: Span, operand: Expression, position: Expression) -> Index:
    return Index(span, operand, position)


def cast(span: Span, operand: Expression, type_: TypeNode) -> Expression:
    return Cast(span, operand, type_)


def try_cast(span: Span, operand: Expression, type_: TypeNode) -> Expression:
    return Cast(span, operand, type_, True)


def extract(span: Span, part: Name, source: Expression) -> Expression:
    return Extract(span, part.text.upper(), source)


def case(span: Span, operand: Expression | None, *rest: Any) -> Expression:
    *whens, otherwise = rest
    return Case(span, operand, tuple(whens), otherwise)


def when(span: Span, condition: Expression, result: Expression) -> When:
    return When(span, condition, result)


def row(span: Span, *items: Expression) -> Row:
    return Row(span, items)


def empty_call(span: Span, name: Name) -> Call:
    return Call(span, name, ())


def call(
    span: Span,
    name: Name,
    distinct: str | None,
    arguments_: tuple[Expression, ...],
    order: tuple[SortItem, ...] | None,
) -> Call:
    return Call(span, name, arguments_, distinct is not None, order or ())


def call_nulls_inside(span: Span, name: Name, argument: Expression, treatment: str) -> Call:
    return Call(span, name, (argument,), nulls=treatment)


def call_order(span: Span, called: Call, order: tuple[SortItem, ...]) -> Call:
    return replace(called, span=span, order_by=order)


def call_filter(span: Span, called: Call, condition: Expression) -> Call:
    return replace(called, span=span, filter=condition)


def call_nulls(span: Span, called: Call, treatment: str) -> Call:
    return replace(called, span=span, nulls=treatment)


def call_over(span: Span, called: Call, window: WindowSpec) -> Call:
    return replace(called, span=span, over=window)


def arguments(_span: Span, *items: Expression) -> tuple[Expression, ...]:
    return items


def named_argument(span: Span, name: Name, value: Expression) -> Expression:
    return NamedArgument(span, name, value)


def lambda_one(span: Span, parameter: Name, body: Expression) -> Expression:
    return Lambda(span, (parameter,), body)


def lambda_many(span: Span, parameters: Row, body: Expression) -> Expression:
    names: list[Name] = []
    for item in parameters.items:
        if not isinstance(item, ColumnRef) or len(item.parts) > 1:
            raise not_a_parameter(item.span)
        names.append(item.parts[0])
    return Lambda(span, tuple(names), body)


def named_field(span: Span, expression: Expression, name: Name) -> Expression:
    return NamedField(span, expression, name)


def star(span: Span) -> Star:
    return Star(span)


def qualified_star(span: Span, owner: ColumnRef) -> Star:
    if len(owner.parts) > 1:
        raise long_star(span)
    return Star(span, owner.parts[0])


def null_treatment(_span: Span, treatment: str) -> str:
    return treatment.upper()


def window_name(span: Span, name: Name) -> WindowSpec:
    return WindowSpec(span, name, (), (), None)


def window_spec(
    span: Span,
    name: Name | None,
    partition: tuple[Expression, ...] | None,
    order: tuple[SortItem, ...] | None,
    frame: Frame | None,
) -> WindowSpec:
    return WindowSpec(span, name, partition or (), order or (), frame)


def partition_by(_span: Span, *keys: Expression) -> tuple[Expression, ...]:
    return keys


def order_by(_span: Span, *items: SortItem) -> tuple[SortItem, ...]:
    return items


def sort_item(
    span: Span, expression: Expression, direction: str | None, nulls: str | None
) -> SortItem:
    descending = direction is not None and direction.upper() == "DESC"
    return SortItem(span, expression, descending, nulls and nulls.upper())


def frame_from(span: Span, unit: str, start: FrameBound) -> Frame:
    end = Span(span.end, span.end)
    return Frame(span, unit.upper(), start, FrameBound(end, "CURRENT ROW", None))


def frame_between(span: Span, unit: str, start: FrameBound, end: FrameBound) -> Frame:
    return Frame(span, unit.upper(), start, end)


def frame_unbounded(span: Span, side: str) -> FrameBound:
    return FrameBound(span, f"UNBOUNDED {side.upper()}", None)


def frame_current(span: Span) -> FrameBound:
    return FrameBound(span, "CURRENT ROW", None)


def frame_offset(span: Span, offset: Expression, side: str) -> FrameBound:
    return FrameBound(span, side.upper(), offset)


# Calls with words between the arguments become calls with commas.


def call_by_words(span: Span, word: str, *arguments_: Expression | None) -> Call:
    return _plain(span, word, *(argument for argument in arguments_ if argument is not None))


def call_by_commas(span: Span, word: str, arguments_: tuple[Expression, ...]) -> Call:
    return call(span, _word(span, word), None, arguments_, None)


def trim(span: Span, word: str, text: Expression) -> Call:
    return _plain(span, word, text)


def trim_characters(span: Span, _word: str, characters: Expression, text: Expression) -> Call:
    return _plain(span, "btrim", text, characters)


def trim_side(span: Span, _word: str, side: str, text: Expression) -> Call:
    return _plain(span, _TRIMS[side.upper()], text)


def trim_side_characters(
    span: Span, _word: str, side: str, characters: Expression, text: Expression
) -> Call:
    if side.upper() == "BOTH":
        return _plain(span, "btrim", text, characters)
    # These take what to trim first.
    return _plain(span, _TRIMS[side.upper()], characters, text)


def _plain(span: Span, word: str, *arguments_: Expression) -> Call:
    return Call(span, _word(span, word), arguments_)


def _word(span: Span, word: str) -> Name:
    return Name(Span(span.start, min(span.start + len(word), span.end)), word)


def struct_call(span: Span, word: str, *items: Expression | None) -> Call:
    """Return ``STRUCT(a, b AS c)`` in Spark's form when a field has a name of its own."""
    given = [item for item in items if item is not None]
    if not any(isinstance(item, NamedField) for item in given):
        return _plain(span, word, *given)
    arguments_: list[Expression] = []
    for number, item in enumerate(given, 1):
        value = item.expression if isinstance(item, NamedField) else item
        arguments_ += [StringLiteral(item.span, _field_name(item, number)), value]
    return Call(span, Name(_word(span, word).span, "named_struct"), tuple(arguments_))


def _field_name(item: Expression, number: int) -> str:
    """Return the name that Spark gives to a field of a struct."""
    match item:
        case NamedField(name=name) | FieldAccess(field=name):
            return name.text
        case ColumnRef(parts=parts):
            return parts[-1].text
    return f"col{number}"
