"""Expressions as canonical Spark SQL: one line, the fewest parentheses that keep the tree."""

from __future__ import annotations

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
    NamedArgument,
    NullLiteral,
    NumberLiteral,
    SortItem,
    Star,
    StringLiteral,
    TypedLiteral,
    Unary,
    VariantPath,
    WindowSpec,
)
from ..diagnostics import InternalError
from .types import type_sql
from .words import identifier, string

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

    Read back it gives the same tree, but for the case of function names, which is lower.
    """
    return _write(node)


def sort_sql(item: SortItem) -> str:
    """Return the text of an item of ORDER BY."""
    text = sql(item.expression) + (" DESC" if item.descending else "")
    return f"{text} NULLS {item.nulls}" if item.nulls else text


def window_sql(spec: WindowSpec) -> str:
    """Return what follows OVER."""
    if spec.name and not (spec.partition_by or spec.order_by or spec.frame):
        return identifier(spec.name.text)
    parts = [identifier(spec.name.text)] if spec.name else []
    if spec.partition_by:
        parts.append(f"PARTITION BY {_list(spec.partition_by)}")
    if spec.order_by:
        parts.append(f"ORDER BY {', '.join(map(sort_sql, spec.order_by))}")
    if spec.frame:
        parts.append(_frame(spec.frame))
    return f"({' '.join(parts)})"


def _level(node: Expression) -> int:
    match node:
        case Binary(operator=operator):
            return _LEVELS[operator]
        case Unary(operator="NOT"):
            return _NOT
        case Unary():
            return _SIGN
        case Between() | InList() | Like() | IsTest() | IsDistinct():
            return _PREDICATE
        case Lambda() | NamedArgument():
            return _ANY
    return _PRIMARY


def _at(node: Expression, level: int) -> str:
    text = _write(node)
    return text if _level(node) >= level else f"({text})"


def _list(nodes: Iterable[Expression]) -> str:
    return ", ".join(map(_write, nodes))


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


@singledispatch
def _write(node: Expression) -> str:
    raise InternalError(f"no text for {type(node).__name__}")


def _writes(function: Callable[..., str]) -> Callable[..., str]:
    """Register a writer for the class of its argument."""
    return _write.register(function)


@_writes
def _column_ref(node: ColumnRef) -> str:
    return ".".join(identifier(part.text) for part in node.parts)


@_writes
def _star(node: Star) -> str:
    return f"{identifier(node.qualifier.text)}.*" if node.qualifier else "*"


@_writes
def _null(_node: NullLiteral) -> str:
    return "NULL"


@_writes
def _boolean(node: BooleanLiteral) -> str:
    return "TRUE" if node.value else "FALSE"


@_writes
def _number(node: NumberLiteral) -> str:
    return node.text


@_writes
def _string(node: StringLiteral) -> str:
    return string(node.value)


@_writes
def _typed_literal(node: TypedLiteral) -> str:
    return f"{node.type_name}{'' if node.type_name == 'X' else ' '}{string(node.value)}"


@_writes
def _interval(node: Interval) -> str:
    return f"INTERVAL {' '.join(map(_interval_part, node.parts))}"


def _interval_part(part: IntervalPart) -> str:
    if not part.amount.isdigit():
        return f"{string(part.amount)} {part.unit}"
    return f"{part.amount} {part.unit}" + ("" if int(part.amount) == 1 else "S")


@_writes
def _unary(node: Unary) -> str:
    if node.operator == "NOT":
        return f"NOT {_at(node.operand, _NOT)}"
    operand = _at(node.operand, _SIGN)
    # Two signs would begin a comment, and a sign before a number would be part of it.
    if node.operator == "-" and (operand[0] == "-" or isinstance(node.operand, NumberLiteral)):
        return f"-({operand})"
    return f"{node.operator}{operand}"


@_writes
def _binary(node: Binary) -> str:
    level = _LEVELS[node.operator]
    return f"{_at(node.left, level)} {node.operator} {_at(node.right, level + 1)}"


@_writes
def _is_test(node: IsTest) -> str:
    return f"{_at(node.operand, _COMPARISON)} IS {_not(node.negated)}{node.test}"


@_writes
def _is_distinct(node: IsDistinct) -> str:
    left, right = _at(node.left, _COMPARISON), _at(node.right, _COMPARISON)
    return f"{left} IS {_not(node.negated)}DISTINCT FROM {right}"


@_writes
def _between(node: Between) -> str:
    operand, low, high = (_at(x, _COMPARISON) for x in (node.operand, node.low, node.high))
    return f"{operand} {_not(node.negated)}BETWEEN {low} AND {high}"


@_writes
def _in_list(node: InList) -> str:
    return f"{_at(node.operand, _COMPARISON)} {_not(node.negated)}IN ({_list(node.items)})"


@_writes
def _like(node: Like) -> str:
    operand, pattern = _at(node.operand, _COMPARISON), _at(node.pattern, _COMPARISON)
    text = f"{operand} {_not(node.negated)}{node.operator} {pattern}"
    return text if node.escape is None else f"{text} ESCAPE {string(node.escape)}"


@_writes
def _case(node: Case) -> str:
    parts = ["CASE"] if node.operand is None else [f"CASE {_write(node.operand)}"]
    parts += [f"WHEN {_write(w.condition)} THEN {_write(w.result)}" for w in node.whens]
    if node.otherwise is not None:
        parts.append(f"ELSE {_write(node.otherwise)}")
    return " ".join((*parts, "END"))


@_writes
def _cast(node: Cast) -> str:
    word = "TRY_CAST" if node.is_try else "CAST"
    return f"{word}({_write(node.operand)} AS {type_sql(node.type)})"


@_writes
def _extract(node: Extract) -> str:
    return f"EXTRACT({identifier(node.field)} FROM {_at(node.source, _COMPARISON)})"


@_writes
def _lambda(node: Lambda) -> str:
    names = ", ".join(identifier(p.text) for p in node.parameters)
    return f"{names if len(node.parameters) == 1 else f'({names})'} -> {_write(node.body)}"


@_writes
def _named_argument(node: NamedArgument) -> str:
    return f"{identifier(node.name.text)} => {_write(node.value)}"


@_writes
def _index(node: Index) -> str:
    return f"{_owner(node.operand, VariantPath)}[{_at(node.index, _COMPARISON)}]"


@_writes
def _field_access(node: FieldAccess) -> str:
    owner = _owner(node.operand, VariantPath, ColumnRef, NumberLiteral)
    return f"{owner}.{identifier(node.field.text)}"


@_writes
def _variant_path(node: VariantPath) -> str:
    return f"{_at(node.operand, _PRIMARY)}:{node.path}"


def _owner(node: Expression, *enclosed: type[Expression]) -> str:
    """Return what stands before a dot or bracket: some would take these for their own."""
    return f"({_write(node)})" if isinstance(node, enclosed) else _at(node, _PRIMARY)


@_writes
def _call(node: Call) -> str:
    distinct = "DISTINCT " if node.distinct else ""
    parts = [f"{identifier(node.name.text.lower())}({distinct}{_list(node.arguments)})"]
    if node.order_by:
        parts.append(f"WITHIN GROUP (ORDER BY {', '.join(map(sort_sql, node.order_by))})")
    if node.filter is not None:
        parts.append(f"FILTER (WHERE {_write(node.filter)})")
    if node.nulls:
        parts.append(f"{node.nulls} NULLS")
    if node.over:
        parts.append(f"OVER {window_sql(node.over)}")
    return " ".join(parts)


def _frame(frame: Frame) -> str:
    return f"{frame.unit} BETWEEN {_bound(frame.start)} AND {_bound(frame.end)}"


def _bound(bound: FrameBound) -> str:
    if bound.offset is None:
        return bound.kind
    return f"{_at(bound.offset, _COMPARISON)} {bound.kind}"
