"""Expressions and names of generated programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import rewrite, walk
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.intervals import micros_text
from ...model.reads import CellRef, InstantRef, KeyRef, LocalRef
from ...model.typed import Typed
from ..expressions.conversions import written


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a name, with trailing underscores until it is not taken, in lower case."""
    known = set(taken)
    while wanted.lower() in known:
        wanted += "_"
    return wanted


def cell(span: Span, *path: str) -> CellRef:
    """Return the read of a cell, or of a field of it."""
    return CellRef(span, _names(span, *path))


def local(span: Span, *path: str) -> LocalRef:
    """Return the read of a local, or of a field of it."""
    return LocalRef(span, _names(span, *path))


def key(span: Span, called: str) -> KeyRef:
    """Return the read of a key."""
    return KeyRef(span, _names(span, called))


def instant(span: Span, timer: str) -> InstantRef:
    """Return the instant of a timer, in its handler."""
    return InstantRef(span, _names(span, timer))


def name(span: Span, value: str) -> Name:
    """Return a name."""
    return Name(span, value)


def column(span: Span, alias: str, called: str, taken: Iterable[str]) -> e.ColumnRef:
    """Return the read of a column of the row, qualified where its name is ambiguous."""
    is_taken = called.lower() in set(taken)
    return e.ColumnRef(span, _names(span, *((alias,) if is_taken else ()), called))


def _names(span: Span, *texts: str) -> tuple[Name, ...]:
    return tuple(Name(span, text) for text in texts)


def call(span: Span, name: str, *arguments: e.Expression) -> e.Call:
    """Return a call of a function."""
    return e.Call(span, Name(span, name), arguments)


def number(span: Span, value: int) -> e.NumberLiteral:
    """Return a whole number."""
    return e.NumberLiteral(span, str(value))


def text(span: Span, value: str) -> e.StringLiteral:
    """Return a text."""
    return e.StringLiteral(span, value)


def cast(value: e.Expression, type_: t.Type) -> e.Cast:
    """Return a value cast to a type."""
    return e.Cast(value.span, value, written(type_, value.span))


def is_known(value: e.Expression) -> e.IsTest:
    """Return the condition that a value is not NULL."""
    return e.IsTest(value.span, value, "NULL", negated=True)


def is_null(value: e.Expression) -> e.IsTest:
    """Return the condition that a value is NULL."""
    return e.IsTest(value.span, value, "NULL", negated=False)


def all_of(conditions: Sequence[e.Expression]) -> Typed | None:
    """Return the conjunction of conditions, None if there are none."""
    if not conditions:
        return None
    found, *others = conditions
    for condition in others:
        found = e.Binary(found.span, "AND", found, condition)
    return Typed(found, t.BOOLEAN)


def after(moment: e.Expression, micros: int) -> e.Expression:
    """Return the instant a duration after another."""
    if not micros:
        return moment
    words = micros_text(abs(micros)).split()
    pairs = zip(words[::2], words[1::2], strict=True)
    span = moment.span
    parts = (e.IntervalPart(span, n, unit.removesuffix("s").upper()) for n, unit in pairs)
    operator = "+" if micros > 0 else "-"
    return e.Binary(span, operator, moment, e.Interval(span, tuple(parts)))


def struct(span: Span, fields: Iterable[tuple[str, Typed]]) -> Typed:
    """Return a struct of named values."""
    named = list(fields)
    arguments = [one for field, value in named for one in (text(span, field), value.expression)]
    type_ = t.Struct(tuple(t.Field(field, value.type) for field, value in named))
    return Typed(call(span, "named_struct", *arguments), type_, nullable=False)


def parameters_of(expression: e.Expression) -> set[str]:
    """Return the parameters of an expression's lambdas, in lower case."""
    lambdas = (node for node in walk(expression) if isinstance(node, e.Lambda))
    return {parameter.text.lower() for one in lambdas for parameter in one.parameters}


def replaced(
    expression: e.Expression,
    change: Callable[[e.ColumnRef], e.Expression],
    hidden: frozenset[str] = frozenset(),
) -> e.Expression:
    """Return an expression with each column replaced by ``change`` of it.

    Names hidden by a lambda are not columns.
    """

    def at(node: Node) -> Node | None:
        if isinstance(node, e.Lambda):
            own = hidden | {parameter.text.lower() for parameter in node.parameters}
            return replace(node, body=replaced(node.body, change, own))
        if type(node) is e.ColumnRef and node.parts[0].text.lower() not in hidden:
            return change(node)
        return None

    return rewrite(expression, at)
