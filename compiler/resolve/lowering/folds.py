"""Aggregates as folds: the values held, their update by a row, and the result.

    VAR_SAMP(x)    m2 = 0, avg = 0, n = 0
                   m2 + d * (d - d / (n + 1)), avg + d / (n + 1), n + 1    where d is x - avg
                   CASE WHEN n > 1 THEN m2 / (n - 1) END
    MAX_BY(x, y)   best = NULL
                   CASE WHEN y < best.by THEN best ELSE named_struct('value', x, 'by', y) END
                   best.value

One definition serves cells of a program, a fold over the rows of a frame, and the fields of an
attempt at a pattern. Held values are ordered so that the new value of each depends only on itself
and on later ones: they can be set one by one.

Moments are those of Welford, Technometrics 4 (1962), and Chan, Golub and LeVeque, The American
Statistician 37 (1983), in Spark's form, so that the same rows in the same order give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.typed import Typed
from . import builders as parts

_Expressions: TypeAlias = Sequence[e.Expression]

VARIANCES = frozenset({"var_pop", "var_samp", "stddev_pop", "stddev_samp"})
COVARIANCES = frozenset({"covar_pop", "covar_samp"})
CHOICES = frozenset({"min_by", "max_by"})
BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}

FOLDED = VARIANCES | COVARIANCES | CHOICES | BITS.keys()
"""The aggregates that are folds here."""

OF_TWO = COVARIANCES | CHOICES
"""Those that get a struct of two values from each row."""

FIELDS_OF_TWO = {
    **dict.fromkeys(COVARIANCES, ("x", "y")),
    **dict.fromkeys(CHOICES, ("value", "by")),
}


@dataclass(frozen=True, slots=True)
class Held:
    """A held value; ``name`` is empty where the aggregate holds nothing else.

    ``initial`` is None where it is NULL before the first row.
    """

    name: str
    type: t.Type
    initial: e.Expression | None = None

    def before(self, span: Span) -> e.Expression:
        """Return its value before the first row."""
        return self.initial or parts.cast(e.NullLiteral(span), self.type)


@dataclass(frozen=True, slots=True)
class Fold:
    """An aggregate as a fold.

    ``counts`` is whether a row with a value counts; ``after`` is how such a row updates what is
    held, ``value`` is the result.
    """

    held: tuple[Held, ...]
    counts: Callable[[e.Expression], e.Expression]
    after: Callable[[_Expressions, e.Expression], tuple[e.Expression, ...]]
    value: Callable[[_Expressions], e.Expression]


def fold(function: str, given: t.Type, span: Span) -> Fold:
    """Return an aggregate of ``FOLDED`` over values of a type."""
    if function in VARIANCES:
        return _variance(function, span)
    if function in COVARIANCES:
        return _covariance(function, span)
    if function in CHOICES:
        return _choice(function, given, span)
    return _bits(BITS[function], given, span)


def of_two(function: str, values: Sequence[Typed], span: Span) -> Typed:
    """Return a row's argument of an aggregate of two values."""
    return parts.struct(span, zip(FIELDS_OF_TWO[function], values, strict=True))


def part(given: e.Expression, name: str) -> e.Expression:
    """Return a field of a row's argument: its own expression, where that is known."""
    if isinstance(given, e.Call) and given.name.text == "named_struct":
        pairs = zip(given.arguments[::2], given.arguments[1::2], strict=True)
        for field, value in pairs:
            if isinstance(field, e.StringLiteral) and field.value == name:
                return value
    if isinstance(given, e.ColumnRef):
        return type(given)(given.span, (*given.parts, Name(given.span, name)))
    return e.FieldAccess(given.span, given, Name(given.span, name))


def _bits(sign: str, type_: t.Type, span: Span) -> Fold:
    def after(held: _Expressions, given: e.Expression) -> tuple[e.Expression, ...]:
        both = e.Binary(span, sign, held[0], given)
        return (parts.call(span, "coalesce", both, given),)

    return Fold((Held("", type_),), parts.is_known, after, lambda held: held[0])


def _choice(function: str, type_: t.Type, span: Span) -> Fold:
    """Of equal ones the last row wins, as in Spark."""
    worse = "<" if function == "max_by" else ">"

    def after(held: _Expressions, given: e.Expression) -> tuple[e.Expression, ...]:
        best = held[0]
        is_worse = e.Binary(span, worse, part(given, "by"), part(best, "by"))
        return (e.Case(span, None, (e.When(span, is_worse, best),), given),)

    return Fold(
        (Held("best", type_),),
        lambda given: parts.is_known(part(given, "by")),
        after,
        lambda held: part(held[0], "value"),
    )


def _double(span: Span) -> e.Expression:
    return e.NumberLiteral(span, "0D")


def _counted(span: Span) -> Held:
    return Held("n", t.BIGINT, e.NumberLiteral(span, "0L"))


def _variance(function: str, span: Span) -> Fold:
    held = (Held("m2", t.DOUBLE, _double(span)), Held("avg", t.DOUBLE, _double(span)))

    def after(held: _Expressions, given: e.Expression) -> tuple[e.Expression, ...]:
        m2, avg, n = held
        more, delta = _plus(n, 1), _minus(given, avg)
        step = e.Binary(span, "/", delta, more)
        product = e.Binary(span, "*", delta, _minus(delta, step))
        return e.Binary(span, "+", m2, product), e.Binary(span, "+", avg, step), more

    def value(held: _Expressions) -> e.Expression:
        found = _moment(held[0], held[2], sample=function.endswith("_samp"))
        return parts.call(span, "sqrt", found) if function.startswith("stddev") else found

    return Fold((*held, _counted(span)), parts.is_known, after, value)


def _covariance(function: str, span: Span) -> Fold:
    held = tuple(Held(name, t.DOUBLE, _double(span)) for name in ("ck", "x_avg", "y_avg"))

    def after(held: _Expressions, given: e.Expression) -> tuple[e.Expression, ...]:
        ck, x_avg, y_avg, n = held
        more = _plus(n, 1)
        dx, dy = _minus(part(given, "x"), x_avg), _minus(part(given, "y"), y_avg)
        x_step, y_step = (e.Binary(span, "/", delta, more) for delta in (dx, dy))
        product = e.Binary(span, "*", dx, _minus(dy, y_step))
        return (
            e.Binary(span, "+", ck, product),
            e.Binary(span, "+", x_avg, x_step),
            e.Binary(span, "+", y_avg, y_step),
            more,
        )

    def counts(given: e.Expression) -> e.Expression:
        known = (parts.is_known(part(given, name)) for name in ("x", "y"))
        return e.Binary(span, "AND", *known)

    def value(held: _Expressions) -> e.Expression:
        return _moment(held[0], held[3], sample=function == "covar_samp")

    return Fold((*held, _counted(span)), counts, after, value)


def _moment(total: e.Expression, n: e.Expression, *, sample: bool) -> e.Expression:
    """Return the mean of squares or products; NULL for no row, or for one in a sample."""
    span, least = total.span, int(sample)
    enough = e.Binary(span, ">", n, parts.number(span, least))
    mean = e.Binary(span, "/", total, _minus(n, parts.number(span, 1)) if sample else n)
    return e.Case(span, None, (e.When(span, enough, mean),), None)


def _plus(value: e.Expression, number: int) -> e.Expression:
    return e.Binary(value.span, "+", value, parts.number(value.span, number))


def _minus(one: e.Expression, other: e.Expression) -> e.Expression:
    return e.Binary(one.span, "-", one, other)
