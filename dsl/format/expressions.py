"""Expressions as canonical Spark SQL: one line, the fewest parentheses that keep the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import singledispatch

from ..ast.expressions import (
    Between,
    Binary,
    BooleanLiteral,
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
    Interval,
    IntervalPart,
    IsDistinct,
    IsTest,
    Lambda,
    Like,
    LikeAny,
    NamedArgument,
    NullLiteral,
    NumberLiteral,
    Row,
    SortItem,
    Star,
    StringLiteral,
    TypedLiteral,
    Unary,
    VariantPath,
    WindowSpec,
    Word,
)
from ..reports.diagnostics import InternalError
from .types import type_sql
from .words import TYPE_WORDS, identifier, string

Spelling = Callable[[str], str]
"""The spelling of a function's name."""


def lower(name: str) -> str:
    """Return the name of a function in lower case."""
    small = name.lower()
    return small if small.upper() in TYPE_WORDS else identifier(small)


def _lower_and_quoted(name: str) -> str:
    return identifier(name.lower())


_WORDS = re.compile(r"\W")
_PIPED = frozenset(
    """AGGREGATE ANTI CLUSTER DISTRIBUTE DROP EXCEPT EXTEND FULL INTERSECT LATERAL LEFT LIMIT MINUS
    NATURAL OFFSET ORDER PIVOT RIGHT SEMI SET SORT TABLESAMPLE UNPIVOT WINDOW""".split()
)
"""Words after which Spark takes a ``|`` for the pipe between parts of a query."""

_IN_WINDOWS = frozenset(("PARTITION", "ORDER", "ROWS", "RANGE"))
"""Words that begin a part of a window, and so cannot begin it as a name."""

# How tightly an expression holds together; operands of an operator hold at least as tightly.
_ANY, _OR, _AND, _NOT, _PREDICATE, _COMPARISON = range(6)
_SIGN, _PRIMARY = 12, 13
_LEVELS = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>"), _COMPARISON),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(("<<", ">>", ">>>"), 9),
    **dict.fromkeys(("+", "-", "||"), 10),
    **dict.fromkeys(("*", "/", "%", "DIV"), 11),
}


def sql(node: Expression) -> str:
    """Return the canonical text of an expression: the same tree always gives the same text.

    Parsed again it gives the same tree, except that function names are in lower case.
    """
    text = _write(node, lower)
    return _write(node, _lower_and_quoted) if ">>" in text else text


def sort_sql(item: SortItem, spell: Spelling = lower) -> str:
    """Return the text of an item of ORDER BY."""
    text = _write(item.expression, spell) + (" DESC" if item.descending else "")
    return f"{text} NULLS {item.nulls}" if item.nulls else text


def window_sql(spec: WindowSpec, spell: Spelling = lower) -> str:
    """Return what follows OVER."""
    if spec.name and not (spec.partition_by or spec.order_by or spec.frame):
        return identifier(spec.name.text)
    parts = [identifier(spec.name.text, _IN_WINDOWS)] if spec.name else []
    if spec.partition_by:
        parts.append(f"PARTITION BY {_list(spec.partition_by, spell)}")
    if spec.order_by:
        parts.append(f"ORDER BY {', '.join(sort_sql(item, spell) for item in spec.order_by)}")
    if spec.frame:
        parts.append(_frame(spec.frame, spell))
    return f"({' '.join(parts)})"


def _level(node: Expression) -> int:
    match node:
        case Binary(operator=operator):
            return _LEVELS[operator]
        case Unary(operator="NOT"):
            return _NOT
        case Unary():
            return _SIGN
        case Between() | InList() | Like() | LikeAny() | IsTest() | IsDistinct():
            return _PREDICATE
        case Lambda() | NamedArgument():
            return _ANY
    return _PRIMARY


def _at(node: Expression, level: int, spell: Spelling) -> str:
    text = _write(node, spell)
    return text if _level(node) >= level else f"({text})"


def _list(nodes: Iterable[Expression], spell: Spelling) -> str:
    return ", ".join(_write(node, spell) for node in nodes)


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


@singledispatch
def _write(node: Expression, spell: Spelling) -> str:
    raise InternalError(f"no text for {type(node).__name__}")


def _writes(function: Callable[..., str]) -> Callable[..., str]:
    """Register a writer for the class of its argument."""
    return _write.register(function)


@_writes
def _column_ref(node: ColumnRef, _spell: Spelling) -> str:
    return ".".join(identifier(part.text) for part in node.parts)


@_writes
def _star(node: Star, _spell: Spelling) -> str:
    return f"{identifier(node.qualifier.text)}.*" if node.qualifier else "*"


@_writes
def _null(_node: NullLiteral, _spell: Spelling) -> str:
    return "NULL"


@_writes
def _boolean(node: BooleanLiteral, _spell: Spelling) -> str:
    return "TRUE" if node.value else "FALSE"


@_writes
def _number(node: NumberLiteral, _spell: Spelling) -> str:
    return node.text


@_writes
def _string(node: StringLiteral, _spell: Spelling) -> str:
    return string(node.value)


@_writes
def _typed_literal(node: TypedLiteral, _spell: Spelling) -> str:
    return f"{node.type_name}{'' if node.type_name == 'X' else ' '}{string(node.value)}"


@_writes
def _interval(node: Interval, _spell: Spelling) -> str:
    return f"INTERVAL {' '.join(map(_interval_part, node.parts))}"


def _interval_part(part: IntervalPart) -> str:
    if not part.amount.isdigit():
        return f"{string(part.amount)} {part.unit}"
    return f"{part.amount} {part.unit}" + ("" if int(part.amount) == 1 else "S")


@_writes
def _unary(node: Unary, spell: Spelling) -> str:
    if node.operator == "NOT":
        return f"NOT {_at(node.operand, _NOT, spell)}"
    operand = _at(node.operand, _SIGN, spell)
    # Two signs would begin a comment, and a sign before a number would be part of it.
    if node.operator == "-" and (operand[0] == "-" or isinstance(node.operand, NumberLiteral)):
        return f"-({operand})"
    return f"{node.operator}{operand}"


@_writes
def _binary(node: Binary, spell: Spelling) -> str:
    level = _LEVELS[node.operator]
    right = _at(node.right, level + 1, spell)
    if node.operator == "|" and _WORDS.split(right, 1)[0].upper() in _PIPED:
        right = f"({right})"
    return f"{_at(node.left, level, spell)} {node.operator} {right}"


@_writes
def _is_test(node: IsTest, spell: Spelling) -> str:
    return f"{_at(node.operand, _COMPARISON, spell)} IS {_not(node.negated)}{node.test}"


@_writes
def _is_distinct(node: IsDistinct, spell: Spelling) -> str:
    left, right = _at(node.left, _COMPARISON, spell), _at(node.right, _COMPARISON, spell)
    return f"{left} IS {_not(node.negated)}DISTINCT FROM {right}"


@_writes
def _between(node: Between, spell: Spelling) -> str:
    operand, low, high = (_at(x, _COMPARISON, spell) for x in (node.operand, node.low, node.high))
    return f"{operand} {_not(node.negated)}BETWEEN {low} AND {high}"


@_writes
def _in_list(node: InList, spell: Spelling) -> str:
    operand = _at(node.operand, _COMPARISON, spell)
    return f"{operand} {_not(node.negated)}IN ({_list(node.items, spell)})"


@_writes
def _like(node: Like, spell: Spelling) -> str:
    operand, pattern = _at(node.operand, _COMPARISON, spell), _at(node.pattern, _COMPARISON, spell)
    text = f"{operand} {_not(node.negated)}{node.operator} {pattern}"
    return text if node.escape is None else f"{text} ESCAPE {string(node.escape)}"


@_writes
def _like_any(node: LikeAny, spell: Spelling) -> str:
    operand = _at(node.operand, _COMPARISON, spell)
    patterns = _list(node.patterns, spell)
    return f"{operand} {_not(node.negated)}{node.operator} {node.quantifier} ({patterns})"


@_writes
def _row(node: Row, spell: Spelling) -> str:
    return f"({_list(node.items, spell)})"


@_writes
def _word(node: Word, _spell: Spelling) -> str:
    return node.text


@_writes
def _case(node: Case, spell: Spelling) -> str:
    parts = ["CASE"] if node.operand is None else [f"CASE {_write(node.operand, spell)}"]
    parts += [
        f"WHEN {_write(w.condition, spell)} THEN {_write(w.result, spell)}" for w in node.whens
    ]
    if node.otherwise is not None:
        parts.append(f"ELSE {_write(node.otherwise, spell)}")
    return " ".join((*parts, "END"))


@_writes
def _cast(node: Cast, spell: Spelling) -> str:
    word = "TRY_CAST" if node.is_try else "CAST"
    return f"{word}({_write(node.operand, spell)} AS {type_sql(node.type)})"


@_writes
def _extract(node: Extract, spell: Spelling) -> str:
    return f"EXTRACT({identifier(node.field)} FROM {_at(node.source, _COMPARISON, spell)})"


@_writes
def _lambda(node: Lambda, spell: Spelling) -> str:
    names = ", ".join(identifier(p.text) for p in node.parameters)
    return f"{names if len(node.parameters) == 1 else f'({names})'} -> {_write(node.body, spell)}"


@_writes
def _named_argument(node: NamedArgument, spell: Spelling) -> str:
    return f"{identifier(node.name.text)} => {_write(node.value, spell)}"


@_writes
def _index(node: Index, spell: Spelling) -> str:
    return f"{_owner(node.operand, spell, VariantPath)}[{_at(node.index, _COMPARISON, spell)}]"


@_writes
def _field_access(node: FieldAccess, spell: Spelling) -> str:
    owner = _owner(node.operand, spell, VariantPath, ColumnRef, NumberLiteral)
    return f"{owner}.{identifier(node.field.text)}"


@_writes
def _variant_path(node: VariantPath, spell: Spelling) -> str:
    return f"{_owner(node.operand, spell, StringLiteral, TypedLiteral)}:{node.path}"


def _owner(node: Expression, spell: Spelling, *enclosed: type[Expression]) -> str:
    """Return the operand of a dot or bracket, in parentheses if it is one of ``enclosed``."""
    return f"({_write(node, spell)})" if isinstance(node, enclosed) else _at(node, _PRIMARY, spell)


@_writes
def _call(node: Call, spell: Spelling) -> str:
    distinct = "DISTINCT " if node.distinct else ""
    parts = [f"{spell(node.name.text)}({distinct}{_list(node.arguments, spell)})"]
    if node.order_by:
        parts.append(
            f"WITHIN GROUP (ORDER BY {', '.join(sort_sql(item, spell) for item in node.order_by)})"
        )
    if node.filter is not None:
        parts.append(f"FILTER (WHERE {_write(node.filter, spell)})")
    if node.nulls:
        parts.append(f"{node.nulls} NULLS")
    if node.over:
        parts.append(f"OVER {window_sql(node.over, spell)}")
    return " ".join(parts)


def _frame(frame: Frame, spell: Spelling) -> str:
    return f"{frame.unit} BETWEEN {_bound(frame.start, spell)} AND {_bound(frame.end, spell)}"


def _bound(bound: FrameBound, spell: Spelling) -> str:
    if bound.offset is None:
        return bound.kind
    return f"{_at(bound.offset, _COMPARISON, spell)} {bound.kind}"
