"""Random expressions: trees that the parser could have made."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast import types as t
from streamc.dsl.ast.node import Name
from streamc.dsl.reports.source import Span

T = TypeVar("T")
Some = SearchStrategy[tuple[T, ...]]

AT = Span(0, 0)
WORDS = """a b card_id ts amount Key value event state date timestamp source timer window at end
order limit interval select from case offset rows day hour list set map left if div current tumble
session x r cast not emit stream key_ _x type with array struct within unbounded partition exists
only json watermark false last first measures null""".split()
OPERATORS = "= <> < <= > >= <=> + - * / % DIV || << >> >>> & | ^ AND OR".split()

text = st.text(max_size=8).filter(lambda value: "\r" not in value)
names = st.builds(
    Name,
    st.just(AT),
    st.one_of(st.sampled_from(WORDS), st.text("ab`. $1", min_size=1, max_size=4)),
)
counts = st.integers(0, 99)
flags = st.booleans()


def node(kind: type[T], *fields: SearchStrategy[object]) -> SearchStrategy[T]:
    """Return nodes of a class from strategies of its fields."""
    return st.builds(kind, st.just(AT), *fields)


def some(items: SearchStrategy[T], least: int = 1, most: int = 3) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def maybe(items: SearchStrategy[T]) -> SearchStrategy[T | None]:
    return st.none() | items


def nothing() -> SearchStrategy[None]:
    return st.none()


# Types.

numbers_of_types = st.sampled_from([(), (12, 2), (5,)])
simple_types = node(t.SimpleType, st.sampled_from(["INT", "STRING", "INTERVAL", "T2"]), st.just(()))
simple_types |= node(t.SimpleType, st.just("DECIMAL"), numbers_of_types)
simple_types |= node(t.SimpleType, st.just("INTERVAL DAY TO SECOND"), st.just(()))


def _larger_types(inner: SearchStrategy[t.TypeNode]) -> SearchStrategy[t.TypeNode]:
    lists = node(t.CollectionType, st.sampled_from(["ARRAY", "SET", "LIST"]), some(inner, 1, 1))
    maps = node(t.CollectionType, st.just("MAP"), some(inner, 2, 2))
    return lists | maps | node(t.StructType, some(node(t.StructField, names, inner, flags)))


types = st.recursive(simple_types, _larger_types, max_leaves=4)

# Expressions.

amounts = st.one_of(counts.map(str), st.sampled_from(["-5", "1.5", "+2"]))
units = st.sampled_from(["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH"])
interval_parts = node(e.IntervalPart, amounts, units)
intervals = node(e.Interval, some(interval_parts))
intervals |= node(
    e.Interval, some(node(e.IntervalPart, st.just("1 10"), st.just("DAY TO HOUR")), 1, 1)
)
columns = node(e.ColumnRef, some(names))
number_texts = st.sampled_from(["0", "17", "-3", "1.5", ".5", "1e3", "10L", "2.5BD", "1S", "-1.5F"])
type_names = st.sampled_from(["DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "X"])
leaves: SearchStrategy[e.Expression] = st.one_of(
    columns,
    node(e.NullLiteral),
    node(e.BooleanLiteral, flags),
    node(e.NumberLiteral, number_texts),
    node(e.StringLiteral, text),
    node(e.TypedLiteral, type_names, text),
    intervals,
)
functions = st.builds(Name, st.just(AT), st.sampled_from("sum left date if my_fn cast `a".split()))


def _windows(inner: SearchStrategy[e.Expression]) -> SearchStrategy[e.WindowSpec]:
    kinds = st.sampled_from(["PRECEDING", "FOLLOWING"])
    fixed = st.sampled_from(["UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"])
    bounds = node(e.FrameBound, kinds, inner) | node(e.FrameBound, fixed, nothing())
    frames = node(e.Frame, st.sampled_from(["ROWS", "RANGE"]), bounds, bounds)
    return node(e.WindowSpec, maybe(names), some(inner, 0), _orders(inner, 0), maybe(frames))


def _orders(inner: SearchStrategy[e.Expression], least: int = 1) -> Some[e.SortItem]:
    nulls = st.sampled_from([None, "FIRST", "LAST"])
    return some(node(e.SortItem, inner, flags, nulls), least)


def _calls(inner: SearchStrategy[e.Expression]) -> SearchStrategy[e.Expression]:
    star = node(e.Star, maybe(names))
    one_name, two_names = some(names, 1, 1), some(names, 2)
    functional = node(e.Lambda, one_name | two_names, inner) | node(e.NamedArgument, names, inner)
    ignore = st.sampled_from([None, "IGNORE", "RESPECT"])
    over = maybe(_windows(inner))
    return st.one_of(
        node(e.Call, functions, some(inner | star | functional, 0)),
        node(e.Call, functions, some(inner), flags, _orders(inner, 0), ignore, maybe(inner), over),
    )


def _paths(inner: SearchStrategy[e.Expression]) -> SearchStrategy[e.Expression]:
    paths = st.sampled_from(["a", "a.b", "a[0]", "a['x'].c[1]"])
    return st.one_of(
        node(e.Index, inner, inner),
        node(e.FieldAccess, inner.filter(_is_no_column), names),
        node(e.VariantPath, inner, paths),
    )


def _is_no_column(expression: e.Expression) -> bool:
    """``(a).b`` is written, but ``a.b`` is a name: a field of a column never comes from text."""
    return not isinstance(expression, e.ColumnRef)


def _larger(inner: SearchStrategy[e.Expression]) -> SearchStrategy[e.Expression]:
    cases = node(e.Case, maybe(inner), some(node(e.When, inner, inner)), maybe(inner))
    likes = node(
        e.Like, inner, st.sampled_from(["LIKE", "ILIKE"]), inner, maybe(st.just("/")), flags
    )
    return st.one_of(
        node(e.Unary, st.sampled_from(["-", "+", "~", "NOT"]), inner),
        node(e.Binary, st.sampled_from(OPERATORS), inner, inner),
        node(e.Binary, st.sampled_from(OPERATORS), inner, inner),
        node(e.IsTest, inner, st.sampled_from(["NULL", "TRUE", "FALSE", "UNKNOWN"]), flags),
        node(e.IsDistinct, inner, inner, flags),
        node(e.Between, inner, inner, inner, flags),
        node(e.InList, inner, some(inner), flags),
        likes,
        node(e.Like, inner, st.just("RLIKE"), inner, nothing(), flags),
        cases,
        node(e.Cast, inner, types, flags),
        node(e.Extract, st.sampled_from(["DAY", "DOW"]), inner),
        _calls(inner),
        _paths(inner),
    )


expressions = st.deferred(lambda: st.recursive(leaves, _larger, max_leaves=8))
