"""Expressions checked without Spark: their types, and the diagnostics of wrong ones."""

from __future__ import annotations

import pytest
from streamc.compiler.model import types as t
from streamc.compiler.resolve.expressions.typing import typed
from streamc.dsl.ast import expressions as e
from typed_expressions import checked


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("1", "INT"),
        ("3000000000", "BIGINT"),
        ("99999999999999999999", "DECIMAL(20,0)"),
        ("-2147483648", "INT"),
        ("2147483648", "BIGINT"),
        ("1.50", "DECIMAL(3,2)"),
        (".05", "DECIMAL(2,2)"),
        ("1e3", "DOUBLE"),
        ("1.5F", "FLOAT"),
        ("7L", "BIGINT"),
        ("1e-3BD", "DECIMAL(3,3)"),
        ("TIMESTAMP '2026-01-01T10:00:00Z'", "TIMESTAMP"),
        ("INTERVAL 1 HOUR 30 MINUTES", "INTERVAL HOUR TO MINUTE"),
        ("INTERVAL 2 WEEKS", "INTERVAL DAY"),
        ("i / 2", "DOUBLE"),
        ("i DIV 2", "BIGINT"),
        ("m * 2", "DECIMAL(14,2)"),
        ("m * i", "DECIMAL(23,2)"),
        ("m / m", "DECIMAL(27,15)"),
        ("fine * fine", "DECIMAL(38,6)"),
        ("i + m * d", "DOUBLE"),
        ("small + tiny", "SMALLINT"),
        ("ts - ts", "INTERVAL DAY TO SECOND"),
        ("day - day", "INTERVAL DAY"),
        ("day + 1", "DATE"),
        ("day + INTERVAL 1 HOUR", "TIMESTAMP"),
        ("day + INTERVAL 1 DAY", "DATE"),
        ("ntz - INTERVAL 1 MONTH", "TIMESTAMP_NTZ"),
        ("span * 2", "INTERVAL DAY TO SECOND"),
        ("s || i", "STRING"),
        ("tags || tags", "ARRAY<STRING>"),
        ("big & 1", "BIGINT"),
        ("tiny << 2", "INT"),
        ("rec.x", "INT"),
        ("tags[0]", "STRING"),
        ("dict['a']", "INT"),
        ("rec['y']", "STRING"),
        ("array(rec)[0].y", "STRING"),
        ("array(rec).x", "ARRAY<INT>"),
        ("v:a.b[0]", "VARIANT"),
        ("v:a::INT", "INT"),
        ("EXTRACT(SECOND FROM ts)", "DECIMAL(8,6)"),
        ("EXTRACT(hrs FROM span)", "TINYINT"),
        ("date_part('month', months)", "TINYINT"),
        ("CASE WHEN bool THEN i ELSE m END", "DECIMAL(12,2)"),
        ("CASE WHEN bool THEN ts ELSE '2026-01-01' END", "TIMESTAMP"),
        ("coalesce(day, ts)", "TIMESTAMP"),
        ("coalesce('2026-01-01', ts)", "TIMESTAMP"),
        ("coalesce(NULL, '2026-01-01', '2026-01-02', day)", "DATE"),
        ("if(bool, '2026-01-01', ts)", "TIMESTAMP"),
        ("CASE WHEN bool THEN '2026-01-01' ELSE ts END", "TIMESTAMP"),
        ("if(bool, 1, 2.5)", "DECIMAL(11,1)"),
        ("nullif(i, 0)", "INT"),
        ("greatest(i, big, d)", "DOUBLE"),
        ("round(m, 1)", "DECIMAL(12,1)"),
        ("ceil(d)", "BIGINT"),
        ("transform(nums, n -> n * 2.5)", "ARRAY<DECIMAL(13,1)>"),
        ("transform(tags, (tag, at) -> at)", "ARRAY<INT>"),
        ("aggregate(nums, 0L, (sum, n) -> sum + n)", "BIGINT"),
        ("map_filter(dict, (k, n) -> n > 1 AND k <> '')", "MAP<STRING, INT>"),
        ("named_struct('a', i, 'b', s)", "STRUCT<a: INT, b: STRING>"),
        ("struct(rec.x, i + 1)", "STRUCT<x: INT, col2: INT>"),
        ("struct(i, s AS t, i + 1)", "STRUCT<i: INT, t: STRING, col3: INT>"),
        ("(i, s)", "STRUCT<i: INT, s: STRING>"),
        ("(i, s) IN ((1, 'a'), (2, s))", "BOOLEAN"),
        ("s NOT LIKE ANY ('a%', s)", "BOOLEAN"),
        ("SUBSTRING(raw FROM 2 FOR i)", "BINARY"),
        ("TRIM(LEADING 'x' FROM s)", "STRING"),
        ("TIMESTAMPADD(HOUR, 1, day)", "TIMESTAMP"),
        ("DATEADD(MONTH, 1, ntz)", "TIMESTAMP_NTZ"),
        ("TIMESTAMPDIFF(DAY, ts, day)", "BIGINT"),
        ("map(s, i, 'x', big)", "MAP<STRING, BIGINT>"),
        ("size(tags)", "INT"),
        ("current_timestamp", "TIMESTAMP"),
        ("from_json(s, 'a INT')", "UNKNOWN"),
        ("mask(str => s)", "UNKNOWN"),
        ("SUM(m)", "DECIMAL(22,2)"),
        ("AVG(m)", "DECIMAL(16,6)"),
        ("SUM(i) / COUNT(*)", "DOUBLE"),
        ("COUNT(DISTINCT s)", "BIGINT"),
        ("MAX_BY(rec, ts)", "STRUCT<x: INT, y: STRING>"),
    ],
)
def test_the_type_of_an_expression(text: str, type_: str) -> None:
    found = checked(text)
    assert (found.type, found.codes) == (type_, [])


MISTAKES = [
    # Texts and numbers.
    ("s = 1", "text-and-number", "write `CAST(s AS INT)`"),
    ("'10' < m", "text-and-number", "write `10`"),
    ("i IN (1, '2')", "text-and-number", "write `2`"),
    ("s BETWEEN 1 AND 2", "text-and-number", "write `CAST(s AS INT)`"),
    ("i IS DISTINCT FROM 'a'", "text-and-number", "write a number, without quotes"),
    ("CASE i WHEN 'a' THEN 1 END", "text-and-number", "write a number, without quotes"),
    ("CASE WHEN bool THEN 1 ELSE 'a' END", "text-and-number", "write `'1'`"),
    ("s + 1", "operand-type", "write `CAST(s AS DOUBLE)` if it contains a number"),
    ("s + s", "operand-type", "write `s || s` to concatenate strings"),
    ("-s", "operand-type", "write `CAST(s AS DOUBLE)` if it contains a number"),
    ("sqrt('4')", "argument-type", "write `4`"),
    ("SUM(s)", "argument-type", "write `CAST(s AS DOUBLE)`"),
    # Comparisons.
    ("s = ts", "incomparable", "write `CAST(s AS TIMESTAMP)`, if that is intended"),
    ("bool = 1", "incomparable", None),
    ("dict = dict", "incomparable", None),
    ("v < v", "incomparable", None),
    ("span < months", "incomparable", None),
    ("i = NULL", "compared-with-null", "write `i IS NULL`"),
    ("NULL <> s", "compared-with-null", "write `s IS NOT NULL`"),
    ("coalesce('soon', ts)", "bad-literal", None),
    # Conditions.
    ("NOT i", "not-boolean", "write a comparison, as in `i > 0`"),
    ("i AND bool", "not-boolean", None),
    ("CASE WHEN s THEN 1 END", "not-boolean", "write a comparison, as in `s = 'yes'`"),
    ("ts IS TRUE", "not-boolean", "write a condition, as in `ts IS NOT NULL`"),
    ("if(i, 1, 2)", "argument-type", "write `CAST(i AS BOOLEAN)`"),
    # Arithmetic.
    ("ts + 1", "operand-type", "add a unit: `INTERVAL 1 SECOND`"),
    ("day + big", "operand-type", "add a unit: `big * INTERVAL 1 DAY`"),
    ("span - ts", "operand-type", "write `ts - span`"),
    ("bool & bool", "operand-type", "write `AND` or `OR`"),
    ("~m", "operand-type", "write `CAST(m AS BIGINT)`"),
    ("tags || s", "operand-type", None),
    ("i LIKE 'a'", "operand-type", "write `CAST(i AS STRING)`"),
    # Elements and fields.
    ("tags['a']", "operand-type", None),
    ("s[0]", "operand-type", "write `substring(s, 1, 1)` for a character"),
    ("v[0]", "operand-type", None),
    ("s:a", "operand-type", "write `parse_json(s):a`"),
    ("array(rec)[0].z", "unknown-field", "its fields are: x, y"),
    ("array(rec).z", "unknown-field", "its fields are: x, y"),
    ("parse_json(s).a", "unknown-field", "write `parse_json(s):a`"),
    ("named_struct('amount', 1).amont", "unknown-field", "did you mean `amount`?"),
    ("map_concat(dict, dict).a", "unknown-field", "write `map_concat(dict, dict)['a']`"),
    # Calls.
    ("proctime()", "unknown-function", None),
    ("uper(s)", "unknown-function", "did you mean `upper`?"),
    ("timestampdiff(HOURS, ts, ts)", "unknown-date-part", "did you mean `HOUR`?"),
    ("timestampdiff(1, ts, ts)", "unknown-date-part", None),
    ("dateadd(DAY, 1, s)", "argument-type", "`CAST(s AS TIMESTAMP)` if that is intended"),
    ("dateadd(DAY, m, ts)", "argument-type", "`CAST(m AS BIGINT)` if that is intended"),
    ("i LIKE ANY ('a')", "operand-type", None),
    ("s LIKE ALL ('a', i)", "operand-type", None),
    ("(i, s) = (1, 2)", "incomparable", None),
    ("(i, s) IN ((1, 'a', 2))", "incomparable", None),
    ("explode(tags)", "table-function", None),
    ('"s" > 3', "text-and-number", "double quotes delimit a string; the column is `s`"),
    ("tumble(ts, INTERVAL 1 MINUTE)", "window-function", None),
    ("upper()", "argument-count", "add the missing ones"),
    ("upper(s, s)", "argument-count", "remove the extra ones"),
    ("hour(ts, ts)", "argument-count", "remove the extra ones"),
    ("upper(tags)", "argument-type", "write `CAST(tags AS STRING)`"),
    ("coalesce(i, bool)", "no-common-type", "write `CAST(bool AS INT)`"),
    ("date_add(day, big)", "argument-type", "give it an INT"),
    ("array_contains(nums, 'a')", "argument-type", "write a number, without quotes"),
    ("sort_array(array(dict))", "argument-type", "give it an ARRAY of values with an order"),
    ("map(s)", "argument-type", None),
    ("transform(tags, s)", "argument-type", "write `x -> s`"),
    ("upper(x -> x)", "argument-type", "give it a value"),
    ("filter(tags, x -> x)", "argument-type", "cast the result, as in `CAST(… AS BOOLEAN)`"),
    ("exists(tags, (x, y) -> true)", "argument-count", "write `(x) -> …`"),
    ("aggregate(array(1L), 0, (a, x) -> a + x)", "argument-type", None),
    # Casts, parts and literals.
    ("CAST(i AS DATE)", "impossible-cast", "write `date_from_unix_date(i)` for days since 1970"),
    ("CAST(s AS ARRAY<INT>)", "impossible-cast", "write `from_json(s, '…')` if it contains JSON"),
    ("CAST(s AS STRNG)", "unknown-type", "did you mean `STRING`?"),
    ("EXTRACT(EPOCH FROM ts)", "unknown-date-part", None),
    ("EXTRACT(DAY FROM span)", "unknown-date-part", "its fields are: HOUR, MINUTE"),
    ("EXTRACT(DAY FROM i)", "operand-type", "write `CAST(i AS TIMESTAMP)`"),
    ("200Y", "bad-literal", None),
    ("1e400", "bad-literal", None),
    ("DATE '2026-02-30'", "bad-literal", "write it as in `DATE '2026-01-31'`"),
    ("ts > 'yesterdy'", "bad-literal", "write it as in `TIMESTAMP '2026-01-31T10:00:00Z'`"),
    ("X'zz'", "bad-literal", None),
    ("INTERVAL 1 MONTH 1 DAY", "bad-interval", None),
    ("INTERVAL 1.5 MINUTES", "bad-interval", None),
    # Aggregates.
    ("SUM(SUM(i))", "nested-aggregate", None),
    ("SUM(i) FILTER (WHERE MAX(i) > 1)", "nested-aggregate", None),
    ("SUM(i) FILTER (WHERE i)", "not-boolean", None),
    ("transform(nums, n -> SUM(i))", "misplaced-aggregate", None),
    ("upper(DISTINCT s)", "not-an-aggregate", "remove DISTINCT"),
    ("upper(s) FILTER (WHERE bool)", "not-an-aggregate", "remove FILTER"),
    ("COUNT()", "argument-count", "count rows by `COUNT(*)`"),
    ("SUM(i, i)", "argument-count", "give it 1 argument"),
    ("MAX(dict)", "argument-type", "give it an orderable value"),
    ("BOOL_OR(i)", "argument-type", "give it a condition"),
    ("SUM(*)", "misplaced-expression", None),
    ("row_number()", "misplaced-window", None),
    ("SUM(i) OVER (PARTITION BY s)", "misplaced-window", None),
    # Aggregates that have or need an order, distinct values, constants.
    ("FIRST_VALUE(v)", "aggregate-order", None),
    ("ARRAY_AGG(i ORDER BY d, m DESC)", "aggregate-form", None),
    ("ARRAY_AGG(i ORDER BY d NULLS LAST)", "aggregate-form", None),
    ("ARRAY_AGG(DISTINCT i ORDER BY d)", "aggregate-form", "remove ORDER BY, or DISTINCT"),
    ("AVG(DISTINCT i)", "aggregate-form", "deduplicate in an earlier stream, by DISTINCT ON"),
    ("LISTAGG(DISTINCT s)", "aggregate-form", "write `ARRAY_JOIN(ARRAY_AGG(DISTINCT x), ', ')`"),
    ("SUM(i ORDER BY d)", "not-an-aggregate", "remove ORDER BY"),
    ("FIRST_VALUE(s ORDER BY ts)", "not-an-aggregate", "write `MIN_BY(s, ts)`, or remove ORDER BY"),
    ("FIRST(s ORDER BY d DESC)", "not-an-aggregate", "write `MAX_BY(s, d)`, or remove ORDER BY"),
    ("LAST_VALUE(s ORDER BY ts)", "not-an-aggregate", "write `MAX_BY(s, ts)`, or remove ORDER BY"),
    ("SUM(i) IGNORE NULLS", "not-an-aggregate", "remove IGNORE NULLS"),
    ("PERCENTILE(i, 50)", "aggregate-constant", None),
    ("PERCENTILE(i, d)", "aggregate-constant", None),
    ("PERCENTILE(i, array(0.5, 2))", "aggregate-constant", None),
    ("APPROX_COUNT_DISTINCT(i, 0.5)", "aggregate-constant", "write it as a number, as in `0.5`"),
    ("HLL_SKETCH_AGG(i, 99)", "aggregate-constant", "write it as a number"),
    ("ANY_VALUE(i, s)", "aggregate-constant", "write TRUE or FALSE"),
    ("LISTAGG(s, s)", "aggregate-constant", "write it in quotes, as in `', '`"),
    ("TRY_SUM(m)", "argument-type", "write `SUM(m)`: it has ten spare digits"),
    ("HLL_UNION_AGG(s)", "argument-type", "give it a sketch or bitmap, which is a BINARY"),
    ("MEDIAN(s)", "argument-type", "write `CAST(s AS DOUBLE)`"),
    # Not supported.
    ("tuple_union_agg_double(raw)", "not-built", None),
]


@pytest.mark.parametrize(("text", "code", "help_"), MISTAKES)
def test_a_mistake_is_reported_once_with_its_fix(text: str, code: str, help_: str | None) -> None:
    found = checked(text)
    assert found.codes == [code]
    (diagnostic,) = found.diagnostics
    assert help_ is None or diagnostic.help == help_
    assert not diagnostic.message.endswith(".")
    assert len(diagnostic.secondary) <= 1


@pytest.mark.parametrize("text", [text for text, _, _ in MISTAKES])
def test_nothing_above_a_mistake_complains_again(text: str) -> None:
    above = f"coalesce(upper(CAST({text} AS STRING)), 'x') = 'y' AND NOT bool"
    assert len(checked(above).codes) == 1


def test_two_causes_are_two_diagnostics() -> None:
    assert checked("uper(s) || lowr(s)").codes == ["unknown-function", "unknown-function"]


@pytest.mark.parametrize(
    ("clause", "text", "code"),
    [
        ("WHERE", "m", "not-boolean"),
        ("HAVING", "i + 1", "not-boolean"),
        ("WHERE", "SUM(i) > 1", "misplaced-aggregate"),
        ("GROUP BY", "SUM(i)", "misplaced-aggregate"),
    ],
)
def test_a_clause_says_what_may_stand_in_it(clause: str, text: str, code: str) -> None:
    found = checked(text, clause, aggregates=clause == "HAVING")
    assert found.codes == [code]
    assert clause in found.diagnostics[0].message


def test_an_aggregate_in_where_belongs_in_having() -> None:
    found = checked("SUM(i) > 1", "WHERE", aggregates=False)
    assert found.diagnostics[0].help == "move the condition to HAVING: `HAVING SUM(i) …`"


def test_functions_come_out_in_lower_case_and_by_one_name() -> None:
    call = checked("UPPER(s)").value.expression
    assert isinstance(call, e.Call)
    assert call.name.text == "upper"
    assert checked("Mean(i)").value.expression == checked("avg(i)").value.expression


def test_the_aggregates_of_an_expression_come_with_their_arguments() -> None:
    found = checked("SUM(m) / COUNT(*) + COUNT(DISTINCT s)").aggregates
    assert [(a.function.name, a.argument_types) for a in found] == [
        ("sum", (t.Decimal(12, 2),)),
        ("count", ()),
        ("count_distinct", (t.STRING,)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "COUNT(*)",
        "COUNT(s)",
        "coalesce(i, 0)",
        "i IS NULL",
        "i <=> 1",
        "1 + 1",
        "array(i)",
        "CASE WHEN bool THEN 1 ELSE 2 END",
    ],
)
def test_what_is_never_null(text: str) -> None:
    assert not checked(text).value.nullable


@pytest.mark.parametrize("text", ["SUM(i)", "i", "1 / 0", "NULL", "CASE WHEN bool THEN 1 END"])
def test_what_may_be_null(text: str) -> None:
    assert checked(text).value.nullable


def test_a_long_chain_of_operators_needs_no_deep_stack() -> None:
    chain = checked(" OR ".join(["bool"] * 500)).value
    assert chain.type == t.BOOLEAN


def test_every_kind_of_expression_has_a_rule() -> None:
    kinds = [
        kind
        for kind in vars(e).values()
        if isinstance(kind, type) and issubclass(kind, e.Expression) and kind is not e.Expression
    ]
    base = typed.dispatch(object)
    assert [kind.__name__ for kind in kinds if typed.dispatch(kind) is base] == []
