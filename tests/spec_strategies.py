"""Random specs: trees that the parser could have made."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast import programs as p
from streamc.dsl.ast import queries as q
from streamc.dsl.ast import statements as s
from streamc.dsl.ast import types as t
from streamc.dsl.ast.node import Name
from streamc.dsl.parse import parse_expression
from streamc.dsl.source import SourceFile, Span

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


def _parsed(text: str) -> e.Expression:
    tree, diagnostics = parse_expression(SourceFile("x", text))
    assert tree is not None, [d.message for d in diagnostics]
    return tree


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

# In statements it matters how tightly an expression holds together, not what else is in it.
short_expressions = st.sampled_from(
    [
        _parsed(text)
        for text in """a | a.b | 1 | -1 | 'x' | a + 1 | -a | a = b | a AND b | a OR b | NOT a
        | a IS NULL | a BETWEEN 1 AND 2 | CASE WHEN a THEN b END | sum(a) OVER (ORDER BY b)
        | count(*) | f(x -> x) | INTERVAL 1 DAY | INTERVAL '1 10' DAY TO HOUR
        | ts + INTERVAL 1 DAY | DATE '2026-01-01' | a[1] | v:a.b | f(a).b | a IN (1, 2)
        | count(DISTINCT a) FILTER (WHERE b) | `a b` | `end` | a LIKE 'x' ESCAPE '/'
        | CAST(a AS INT) | EXTRACT(DAY FROM ts) | list | state | a < b""".split("|")
    ]
)

# Queries.


@cache
def queries(depth: int = 1) -> SearchStrategy[q.Query]:
    """Return queries with subqueries of a depth."""
    inner = st.deferred(lambda: queries(depth - 1)) if depth else None
    tables = some(node(q.CommonTable, names, inner), 0, 2) if inner is not None else st.just(())
    return node(q.Query, tables, some(_selects(inner), 1, 2))


def _selects(inner: SearchStrategy[q.Query] | None) -> SearchStrategy[q.Select]:
    item = short_expressions
    items = node(q.SelectItem, item, maybe(names)) | node(q.SelectItem, node(e.Star, maybe(names)))
    keys = some(item.filter(lambda x: not isinstance(x, e.Call)), 0)
    early = node(q.Emit, st.just("EARLY"), intervals)
    emit = node(q.Emit, st.sampled_from(["ON WINDOW CLOSE", "CHANGES"])) | early
    named = node(q.NamedWindow, names, _windows(item))
    distinct_on = maybe(node(q.DistinctOn, some(item), maybe(intervals)))
    fields = [
        some(items),
        _relations(inner),
        maybe(short_expressions),
        keys,
        maybe(item),
        some(named, 0, 2),
        maybe(item),
        maybe(emit),
        maybe(intervals),
        maybe(late_rows),
    ]
    plain = node(q.Select, flags, nothing(), *fields)
    return plain | node(q.Select, st.just(False), distinct_on, *fields)


late_rows = node(q.LateRows, maybe(names))


def _relations(inner: SearchStrategy[q.Query] | None) -> SearchStrategy[q.Relation]:
    factors = _factors(inner)
    kinds = st.sampled_from(["INNER", "LEFT", "RIGHT", "FULL"])

    def joins(left: SearchStrategy[q.Relation]) -> SearchStrategy[q.Relation]:
        return st.one_of(
            node(q.Join, kinds, left, factors, short_expressions, st.just(())),
            node(q.Join, kinds, left, factors, nothing(), some(names)),
            node(q.Join, st.just("CROSS"), left, factors, nothing(), st.just(())),
        )

    return st.recursive(factors, joins, max_leaves=2)


def _factors(inner: SearchStrategy[q.Query] | None) -> SearchStrategy[q.Relation]:
    bare: SearchStrategy[q.Relation] = node(q.TableRef, names)
    factors: SearchStrategy[q.Relation] = node(
        q.TableRef, names, maybe(names), maybe(short_expressions)
    )
    if inner is not None:
        bare |= node(q.SubqueryRef, inner, nothing())
        factors |= node(q.SubqueryRef, inner, maybe(names))
    kinds = st.sampled_from(["TUMBLE", "HOP", "CUMULATE", "SESSION"])
    keys = some(short_expressions, 0)
    item, alias = short_expressions, maybe(names)
    factors |= node(q.WindowTable, kinds, bare, keys, item, some(item), maybe(intervals), alias)
    count = st.just("COUNT_WINDOW")
    by = some(short_expressions)
    factors |= node(q.WindowTable, count, bare, by, nothing(), some(item), nothing(), alias)
    return factors | _matches(node(q.TableRef, names, maybe(names)))


def _matches(relation: SearchStrategy[q.Relation]) -> SearchStrategy[q.MatchRecognize]:
    item = short_expressions

    def larger(inner: SearchStrategy[q.Pattern]) -> SearchStrategy[q.Pattern]:
        ranges = st.tuples(counts, maybe(counts)).map(lambda r: (r[0], r[1]))
        repeats = ranges.flatmap(
            lambda r: node(q.PatternRepeat, inner, st.just(r[0]), st.just(r[1]), flags)
        )
        several = some(inner, 2)
        return repeats | node(q.PatternSequence, several) | node(q.PatternAlternatives, several)

    patterns = st.recursive(node(q.PatternVariable, names), larger, max_leaves=4)
    skips = st.sampled_from(["PAST LAST ROW", "TO NEXT ROW"])
    fields = [
        patterns,
        maybe(intervals),
        some(node(q.PatternDefinition, names, item), 0),
        maybe(names),
    ]
    head = [
        relation,
        some(item, 0),
        _orders(item, 0),
        some(node(q.Measure, item, names), 0),
        st.sampled_from(["ONE", "ALL"]),
    ]
    plain = node(q.MatchRecognize, *head, skips, nothing(), *fields)
    to = st.sampled_from(["TO FIRST", "TO LAST"])
    return plain | node(q.MatchRecognize, *head, to, names, *fields)


# Programs.

cells = node(s.StateCell, names, types, maybe(short_expressions))


def _blocks(inner: SearchStrategy[p.ProgramStatement]) -> SearchStrategy[p.ProgramStatement]:
    body = some(inner, 0)
    branches = some(node(p.IfBranch, short_expressions, body))
    return st.one_of(
        node(p.IfStatement, branches, body),
        node(p.WhileStatement, short_expressions, body),
        node(p.ForStatement, names, short_expressions, body),
    )


_item = short_expressions
simple_statements: SearchStrategy[p.ProgramStatement] = st.one_of(
    node(p.SetStatement, names, _item),
    node(p.DeclareStatement, names, types, maybe(_item)),
    node(p.PutStatement, names, _item, _item),
    node(p.RemoveKeyStatement, names, _item),
    node(p.AddStatement, _item, names),
    node(p.RemoveStatement, _item, names),
    node(p.AppendStatement, _item, names),
    node(p.ClearStatement, maybe(names)),
    node(p.StartTimerStatement, names, _item),
    node(p.StopTimerStatement, names),
    node(p.EmitStatement, some(_item)),
)
program_statements = st.recursive(simple_statements, _blocks, max_leaves=4)
handlers = st.one_of(
    node(p.Handler, st.just("EVENT"), maybe(names), some(program_statements, 0)),
    node(p.Handler, st.just("TIMER"), names, some(program_statements, 0)),
    node(p.Handler, st.just("EVENT"), maybe(names), st.just(()), text),
)
keyed_inputs = some(
    node(s.OperatorInput, names, maybe(names), some(short_expressions), maybe(columns))
)
plain_inputs = some(node(s.OperatorInput, names, maybe(names), st.just(()), maybe(columns)), 1, 2)

# Statements.

parameters = some(node(s.Parameter, names, types), 0)
option_names = st.builds(
    Name, st.just(AT), st.sampled_from(["path", "format", "spark.maxFileAge", "a b.from", "key"])
)
options = some(node(s.Option, option_names, text, st.just(AT)))
typed_columns = node(s.Column, names, types, flags)
any_column = st.one_of(
    typed_columns,
    node(s.Column, names, nothing(), st.just(False), short_expressions),
    node(s.Column, names, types, st.just(False), nothing(), text),
)
watermarks = node(s.Watermark, names, short_expressions)
malformed = node(s.MalformedRows, st.sampled_from(["FAIL", "SKIP"]), nothing())
malformed |= node(s.MalformedRows, st.just("SEND"), names)
future = node(s.FutureRows, intervals, st.just("SKIP"), nothing())
future |= node(s.FutureRows, intervals, st.just("SEND"), names)

statements: SearchStrategy[s.Statement] = st.one_of(
    node(s.Checkpoint, intervals, maybe(counts), maybe(intervals), maybe(counts)),
    node(
        s.CreateSource,
        names,
        some(any_column),
        some(watermarks, 0, 2),
        maybe(malformed),
        maybe(future),
        options,
    ),
    node(s.CreateTable, names, some(any_column), options),
    node(s.CreateStream, names, options | st.just(()), st.deferred(lambda: queries(1))),
    node(s.CreateSink, names, names, options),
    node(s.CreateFunction, names, parameters, types, text, nothing()),
    node(s.CreateFunction, names, parameters, types, nothing(), short_expressions),
    node(
        s.CreateAggregate,
        names,
        parameters,
        some(node(s.Lift, names, short_expressions)),
        some(node(s.Combine, names, st.sampled_from(["SUM", "HLL"]))),
        short_expressions,
    ),
    node(
        s.CreateOperator,
        names,
        keyed_inputs | plain_inputs,
        maybe(late_rows),
        some(cells, 0),
        some(node(s.TimeToLive, names, intervals), 0),
        some(node(s.Timer, names, st.sampled_from(["EVENT", "PROCESSING"])), 0),
        parameters,
        some(handlers),
    ),
)
