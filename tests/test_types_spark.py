"""Types as Spark's analyzer sees them: the compiler must infer the same, refusals included.

The right answers come from Spark alone. The one difference that is meant: a text is not turned into
a number, a truth value or an instant by itself.
"""

from __future__ import annotations

import json
import logging
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_types import differences, is_refused, of_spark, spelt
from streamc.compiler.model import types as t
from streamc.compiler.model.catalogue import names, shape
from streamc.compiler.model.same import canonical
from streamc.compiler.model.signature_table import SIGNATURES
from streamc.compiler.model.signatures import Pattern, Signature, signature
from streamc.compiler.pyspark.columns import lowered, value
from streamc.dsl.ast import expressions as e
from streamc.dsl.format import sql
from typed_expressions import COLUMNS, Checked, checked

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.spark

ONE_OF_A_KIND = ("bool", "small", "big", "f", "d", "m", "s", "raw", "day", "ts", "ntz", "span")
ONE_OF_A_KIND += ("days", "months", "tags", "dict", "rec", "v")
NUMBERS = ("tiny", "small", "i", "big", "f", "d", "m", "fine", "wide", "2", "-3", "2.50", "7L")
CAST_TARGETS = (
    *("BOOLEAN", "TINYINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10,4)", "STRING", "BINARY", "DATE"),
    *("TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL DAY TO SECOND", "INTERVAL MONTH", "ARRAY<STRING>"),
    *("MAP<STRING, BIGINT>", "STRUCT<a: BIGINT, b: STRING>", "VARIANT"),
)


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> None:
    """PySpark logs the whole trace of every refusal."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


@pytest.fixture(scope="module")
def relation(spark: SparkSession) -> DataFrame:
    """The relation of ``COLUMNS``, empty."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    relation = spark.createDataFrame([], columns)
    relation.createOrReplaceTempView("typed_columns")
    return relation


def test_literals(spark: SparkSession, relation: DataFrame) -> None:
    texts = (
        *("1", "-1", "2147483647", "2147483648", "-2147483648", "9223372036854775808", "007"),
        *("1L", "1S", "1Y", "1.5", "1.50", ".5", "5.", "0.0", "0.01", "1e3", "1.5e-3", "1.5F"),
        *("1D", "1BD", "1.5BD", "1e3BD", "1e-3BD", "-2.5", "'a'", "X'1F'", "TRUE", "NULL"),
        *("DATE '2026-01-01'", "TIMESTAMP '2026-01-01T10:00:00Z'", "TIMESTAMP '2026-01-01'"),
        *("TIMESTAMP_NTZ '2026-01-01 10:00:00'", "TIMESTAMP '2026-1-1 1:2:3.5 Europe/Zurich'"),
        *("INTERVAL 30 SECONDS", "INTERVAL '30' SECOND", "INTERVAL 1 HOUR 30 MINUTES"),
        *("INTERVAL 1 WEEK", "INTERVAL 5 MILLISECONDS", "INTERVAL 1 YEAR 2 MONTHS"),
        *("INTERVAL 1.5 SECONDS", "INTERVAL '1 12' DAY TO HOUR", "INTERVAL '1-2' YEAR TO MONTH"),
        *("INTERVAL '10:30:15.5' HOUR TO SECOND", "INTERVAL -2 DAYS"),
    )
    assert differences(spark, {text: checked(text) for text in texts}) == []


def test_arithmetic_of_numbers(spark: SparkSession, relation: DataFrame) -> None:
    operators = ("+", "-", "*", "/", "%", "DIV")
    pairs = product(NUMBERS, operators, NUMBERS)
    found = {f"{a} {op} {b}": checked(f"{a} {op} {b}") for a, op, b in pairs}
    refused = [text for text, one in found.items() if one.diagnostics]
    assert [text for text in refused if not is_refused(spark, text)] == []
    assert differences(spark, found) == []


BY_WORDS = """
TRIM(LEADING 'x' FROM 'xxaxx') | TRIM(TRAILING 'x' FROM 'xxaxx') | TRIM(BOTH 'x' FROM 'xxaxx')
TRIM('x' FROM 'xxaxx') | TRIM(FROM concat(' a ')) | TRIM(LEADING FROM concat(' a '))
TRIM(TRAILING FROM concat(' a '))
TRIM(' a ') | SUBSTRING('abcdef' FROM 2) | SUBSTR('abcdef' FROM 2 FOR 3) | POSITION('c' IN 'abc')
OVERLAY('abcdef' PLACING 'xy' FROM 2) | OVERLAY('abcdef' PLACING 'xy' FROM 2 FOR 4)
'ab' LIKE ANY ('x', 'a%') | 'ab' NOT LIKE ANY ('x', 'a%') | 'ab' LIKE ALL ('%b', 'a%')
'ab' NOT ILIKE ALL ('X', 'Y') | 'ab' LIKE ANY ('x', NULL) | struct(1, 2 AS b) | (1, 'a').col2
TIMESTAMPADD(MONTH, 1, TIMESTAMP '2026-01-31 10:00:00') | DATEADD(quarter, -1, DATE '2026-01-31')
TIMESTAMPDIFF(HOUR, TIMESTAMP '2026-01-01 00:30:00', TIMESTAMP '2026-01-02 00:00:00')
"""


def test_calls_by_words_give_what_spark_gives(spark: SparkSession) -> None:
    texts = [text.strip() for line in BY_WORDS.strip().splitlines() for text in line.split(" | ")]
    emitted = [sql(checked(text).value.expression) for text in texts]
    items = [f"{text} AS c{i}" for i, text in enumerate((*texts, *emitted))]
    row = list(spark.sql(f"SELECT {', '.join(items)}").collect()[0])
    right, got = row[: len(texts)], row[len(texts) :]
    assert dict(zip(texts, got, strict=True)) == dict(zip(texts, right, strict=True))


def test_rows_are_compared_under_the_names_of_the_left(
    spark: SparkSession, relation: DataFrame
) -> None:
    found = [checked(text) for text in ("rec = (big, 'b')", "(i, s) < (2L, s)", "rec IN ((2L, s))")]
    texts = [sql(one.value.expression) for one in found]
    assert texts == [
        "rec = named_struct('x', big, 'y', 'b')",
        "struct(i, s) < named_struct('i', 2L, 's', s)",
        "rec IN (named_struct('x', 2L, 'y', s))",
    ]
    assert [one.codes for one in found] == [[], [], []]
    assert [type_ for type_, _ in of_spark(spark, texts)] == ["boolean"] * 3


@pytest.mark.parametrize(
    "operator",
    ["+", "||", *(pytest.param(one, marks=pytest.mark.long) for one in ("-", "*", "/", "=", "<"))],
)
def test_operators_on_all_kinds(spark: SparkSession, relation: DataFrame, operator: str) -> None:
    pairs = product(ONE_OF_A_KIND, ONE_OF_A_KIND)
    found = {f"{a} {operator} {b}": checked(f"{a} {operator} {b}") for a, b in pairs}
    assert differences(spark, found) == []
    refused = [text for text, one in found.items() if one.diagnostics and not _on_a_text(text)]
    accepted = [text for text in refused[::3] if not is_refused(spark, text)]
    assert accepted == []


def _on_a_text(text: str) -> bool:
    """A text with something else is rejected on purpose, whatever Spark does."""
    return "s" in re.findall(r"\w+", text)


def test_common_types(spark: SparkSession, relation: DataFrame) -> None:
    kinds = (*ONE_OF_A_KIND, "tiny", "i", "fine", "wide", "NULL")
    found = {
        f"coalesce({a}, {b})": checked(f"coalesce({a}, {b})") for a, b in product(kinds, kinds)
    }
    found |= {
        f"CASE WHEN bool THEN {a} ELSE {b} END": checked(f"CASE WHEN bool THEN {a} ELSE {b} END")
        for a, b in product(kinds, kinds)
    }
    assert differences(spark, found) == []
    refused = [text for text, one in found.items() if one.diagnostics and not _on_a_text(text)]
    assert [text for text in refused[::7] if not is_refused(spark, text)] == []


def test_casts(spark: SparkSession, relation: DataFrame) -> None:
    sources = (*ONE_OF_A_KIND, "tiny", "i")
    texts = [f"CAST({source} AS {target})" for source, target in product(sources, CAST_TARGETS)]
    found = {text: checked(text) for text in texts}
    assert differences(spark, found) == []
    accepted = [
        text for text, one in found.items() if one.diagnostics and not is_refused(spark, text)
    ]
    assert accepted == []


EXPRESSIONS = """
bool AND i > 1 | NOT bool | i IS NULL | bool IS TRUE | i IS DISTINCT FROM big | i <=> m
i BETWEEN 1 AND 2.5 | ts BETWEEN '2026-01-01' AND day | i IN (1, big, m) | day IN ('2026-01-01')
s LIKE 'a%' | s RLIKE 'a' | s NOT LIKE 'a' ESCAPE '!' | ts = '2026-01-01' | ntz > day | i & big
tiny | 3 | i ^ 1 | ~small | i << 2 | big >> 1 | i >>> 1 | -m | -span | + i | -NULL | tags[0]
tags[big] | dict['a'] | rec.x | rec['y'] | array(rec).x | array(rec)[0].y | v:a.b | v:a::INT
day + 1 | 1 + day | day - i | span + ts | months + day | days * 2 | months / 2 | 2 * span
span DIV span | EXTRACT(YEAR FROM ts) | EXTRACT(SECOND FROM ntz) | EXTRACT(DOW FROM day)
EXTRACT(QTR FROM ts) | EXTRACT(MONTH FROM months) | EXTRACT(HOUR FROM span)
EXTRACT(DAY FROM days) | EXTRACT(W FROM ts) | date_part('second', ts) | date_part('hour', span)
datepart('YEAR', day) | CASE WHEN bool THEN 1 ELSE 2 END | CASE i WHEN 1 THEN m END
CASE WHEN bool THEN NULL ELSE s END | CASE WHEN bool THEN ts ELSE '2026-01-01' END
coalesce(ts, '2026-01-01') | coalesce(m, 1) | coalesce(NULL, i) | nvl(i, 0) | ifnull(s, 'x')
nullif(m, big) | nvl2(i, 1, 2.5) | zeroifnull(m) | if(bool, tiny, m) | greatest(i, big, m)
least(day, ts) | equal_null(i, m) | nullifzero(i) | round(m) | round(m, 1) | round(m, -1)
round(wide, 2) | round(fine, 10) | round(d, 2) | round(i, -1) | bround(m, 1) | ceil(m) | ceil(d)
ceil(m, 1) | floor(i, -1) | floor(f, 1) | ceiling(wide) | floor(d, 3) | mod(m, 2) | pmod(i, big)
try_add(m, 1) | try_divide(i, 2) | try_divide(span, 2) | try_multiply(m, m)
try_subtract(ts, span) | try_mod(m, i) | abs(months) | sign(m) | shiftleft(tiny, 1)
shiftright(big, 2) | concat(s, i, ts) | concat(raw, raw) | concat(raw, s)
concat(nums, array(2L)) | concat_ws(',', tags, i) | substring(raw, 1, 2) | left(raw, 2)
right(raw, 1) | lpad(raw, 3, raw) | overlay(raw, raw, 1) | reverse(nums) | reverse(raw)
reverse(i) | elt(1, s, i) | elt(1, raw, raw) | element_at(nums, 1) | element_at(dict, s)
try_element_at(tags, 1) | get(nums, 0) | sequence(1, 5L) | sequence(day, day)
sequence(ts, ts, INTERVAL 1 HOUR) | array(1, 2.5) | array(i, NULL) | map('a', i, 'b', m)
named_struct('a', i, 'b', tags) | struct(rec.x, i, i + 1) | map_entries(dict)
flatten(array(nums)) | map_from_entries(array(struct('a', 1)))
map_from_entries(map_entries(dict)) | map_concat(dict, map('a', 2L)) | array_append(nums, big)
array_insert(nums, 1, big) | array_union(nums, array(2L)) | array_repeat(m, 2)
array_contains(nums, big) | array_position(nums, 1) | array_max(nums) | sort_array(tags, FALSE)
transform(nums, n -> n * 2.5) | transform(tags, (x, at) -> struct(x, at))
filter(nums, n -> n > 1) | exists(tags, x -> x IS NULL) | forall(nums, n -> n > m)
zip_with(nums, tags, (n, x) -> x || n) | aggregate(nums, 0, (a, n) -> a + n)
aggregate(nums, 0L, (a, n) -> a + n, a -> CAST(a AS STRING)) | reduce(tags, '', (a, x) -> a || x)
array_sort(nums, (a, b) -> a - b) | map_filter(dict, (k, n) -> n > 1)
transform_keys(dict, (k, n) -> n) | transform_values(dict, (k, n) -> n + 1.5)
map_zip_with(dict, dict, (k, a, b) -> a + b)
transform(array(nums), xs -> transform(xs, x -> x + size(xs))) | current_timestamp | current_date
now() - INTERVAL 1 DAY | to_date(s) | to_timestamp(ts) | unix_timestamp()
make_timestamp(2026, 1, 2, 3, 4, 5.5) | make_timestamp_ntz(2026, 1, 2, 3, 4, 5) | mask(s, 'X')
rand(1) | randn() | regexp_replace(s, 'a', 'b', 1) | schema_of_json('{}') | shuffle(nums)
to_char(i, '999') | uuid() | xpath_string(s, 'a/b') | bigint(s) | string(m) | date(ts)
timestamp(i) | boolean(i) | decimal(i) | double(m) | upper(v) | upper(span) | length(raw)
hash(i, s) | to_json(rec) | parse_json(s) | typeof(i)
(i, s) | (i, rec.x, i + 1).col3 | (i, s) IN ((1, 'a'), (2, s)) | struct(i, s AS t, i + 1, rec.y)
s LIKE ANY ('a%', s) | s NOT LIKE ALL ('a') | s ILIKE SOME ('a', NULL) | s NOT ILIKE ANY ('a', 'b')
SUBSTRING(s FROM 2) | SUBSTR(s FROM 2 FOR i) | SUBSTRING(raw FROM 1 FOR 2) | POSITION('a' IN s)
POSITION('a', s, 2) | OVERLAY(s PLACING 'x' FROM 2) | OVERLAY(raw PLACING raw FROM 2 FOR 3)
TRIM(s) | TRIM(FROM s) | TRIM('x' FROM s) | TRIM(BOTH FROM s) | TRIM(BOTH 'x' FROM s)
TRIM(LEADING FROM s) | TRIM(LEADING 'x' FROM s) | TRIM(TRAILING s FROM s) | TRIM(TRAILING FROM s)
TIMESTAMPADD(HOUR, i, ts) | DATEADD(MONTH, -1, day) | DATE_ADD(quarter, big, ntz)
TIMESTAMPDIFF(DAY, ts, day) | DATEDIFF(WEEK, day, ntz) | DATE_DIFF(MICROSECOND, ts, ts)
""".replace("tiny | 3", "tiny PIPE 3")


def test_expressions_by_hand(spark: SparkSession, relation: DataFrame) -> None:
    texts = [text for line in EXPRESSIONS.strip().splitlines() for text in line.split(" | ")]
    texts = [text.strip().replace("PIPE", "|") for text in texts]
    found = {text: checked(text) for text in texts}
    assert {text: one.codes for text, one in found.items() if one.diagnostics} == {}
    assert [text for text, one in found.items() if not t.is_known(one.value.type)] == []
    assert differences(spark, found) == []


ARGUMENTS = {
    **{"ANY": "i", "NUMBER": "m", "INTEGRAL": "big", "DAYS": "i", "MOMENT": "s"},
    **{"COLLECTION": "tags", "NESTED": "rec", "T": "i", "U": "i", "V": "i", "K": "s", "R": "i"},
    **{"N": "m", "O": "i", "S": "s", "ARRAY": "nums", "MAP": "dict"},
}
BY_TYPE = {str(type_): name for name, type_ in reversed(COLUMNS.items())} | {
    "DECIMAL(18,6)": "m",
    "DECIMAL(16,6)": "m",
    "INTERVAL DAY TO SECOND": "span",
    "MAP<STRING, STRING>": "map('a', 'b')",
}


BY_HAND = frozenset(
    "make_timestamp make_timestamp_ltz make_timestamp_ntz mask rand randn random regexp_replace "
    "schema_of_json shuffle sort_array to_char to_json to_varchar uuid window_time "
    "xpath_string".split()
)


def _argument(pattern: Pattern) -> str:
    if pattern.type is not None:
        return BY_TYPE[str(pattern.type)]
    if pattern.name == "ARRAY" and pattern.inside[0].name == "ARRAY":
        return "array(nums)"
    if pattern.name == "ARRAY" and pattern.inside[0].type is not None:
        return BY_TYPE[str(t.Array(pattern.inside[0].type))]
    return ARGUMENTS[pattern.name]


def _calls(name: str, read: Signature) -> list[str]:
    """Return calls with the fewest and with all arguments."""
    arguments = [_argument(parameter) for parameter in read.parameters]
    counts = {len(arguments) - read.optional, len(arguments)}
    return [f"{name}({', '.join(arguments[:count])})" for count in sorted(counts)]


def test_signatures(spark: SparkSession, relation: DataFrame) -> None:
    """Those with lambdas, rules of their own or literal arguments are in the list by hand."""
    found: dict[str, Checked] = {}
    for name in SIGNATURES:
        read = signature(name)
        assert read is not None
        by_hand = read.rule or any(p.name == "fn" for p in read.parameters) or name in BY_HAND
        if not by_hand:
            found |= {text: checked(text) for text in _calls(name, read)}
    wrong = {text: one.codes for text, one in found.items() if one.diagnostics}
    assert {text: codes for text, codes in wrong.items() if codes != ["argument-count"]} == {}
    assert differences(spark, found) == []


AGGREGATES = """
count(*) | count(i) | count(i, s) | count_if(bool) | sum(tiny) | sum(i) | sum(big) | sum(f)
sum(d) | sum(m) | sum(fine) | sum(span) | sum(months) | avg(i) | avg(d) | avg(m) | avg(fine)
avg(days) | mean(i) | min(s) | max(ts) | max(rec) | max(tags) | min(m) | bool_and(bool)
every(bool) | some(bool) | any(bool) | min_by(s, ts) | max_by(rec, m) | bit_and(tiny) | bit_or(i)
bit_xor(big) | stddev(i) | std(m) | variance(d) | stddev_pop(d) | var_samp(i) | var_pop(i)
skewness(d) | kurtosis(i) | covar_samp(d, i) | covar_pop(d, d) | corr(i, m)
sum(m) FILTER (WHERE bool) | sum(m) / count(*) | coalesce(sum(i), 0) | count(DISTINCT i)
count(DISTINCT i, s) | try_sum(i) | try_sum(d) | try_sum(span) | try_avg(i) | try_avg(months)
sum(days) | avg(months) | any_value(s) | any_value(rec) IGNORE NULLS | first_value(s)
first_value(rec) IGNORE NULLS | last_value(m) | last_value(i + 1) | mode(s) | mode(rec)
approx_count_distinct(s) | approx_count_distinct(dict, 0.1) | collect_list(dict) | collect_set(tags)
array_agg(s) | array_agg(DISTINCT i) | array_agg(s ORDER BY m DESC) | array_agg(i ORDER BY i)
listagg(s) | listagg(s, ', ') | string_agg(i, ',') | listagg(raw) | listagg(s, ',' ORDER BY m DESC)
percentile(i, 0.5) | percentile(d, array(0.1, 0.9)) | percentile(i, 0.5, big) | percentile(span, 1)
median(i) | median(months) | median(fine) | approx_percentile(i, 0.5)
approx_percentile(d, array(0.1, 0.9), 100) | approx_percentile(m, 0.5) | approx_percentile(ts, 0)
approx_percentile(span, 0.5) | regr_count(d, i) | regr_avgx(m, d) | regr_avgy(m, d)
regr_avgx(d, m) | regr_avgy(i, d) | regr_sxx(d, i) | regr_syy(d, i) | regr_sxy(m, i)
regr_slope(d, i) | regr_intercept(d, i) | regr_r2(d, i) | hll_sketch_agg(s) | hll_sketch_agg(i, 10)
hll_union_agg(raw) | hll_union_agg(raw, TRUE) | theta_sketch_agg(d) | theta_union_agg(raw, 10)
theta_intersection_agg(raw) | kll_sketch_agg_bigint(tiny) | kll_sketch_agg_float(f)
kll_sketch_agg_double(d, 400) | kll_merge_agg_bigint(raw) | kll_merge_agg_float(raw)
kll_merge_agg_double(raw) | count_min_sketch(s, 0.1, 0.9, 7) | bitmap_construct_agg(big)
bitmap_or_agg(raw) | bitmap_and_agg(raw) | histogram_numeric(i, 5) | approx_top_k(s)
approx_top_k(i, 3, 100)
""".replace("\n", " | ")


def test_aggregates(spark: SparkSession, relation: DataFrame) -> None:
    found = {text: checked(text) for item in AGGREGATES.split(" | ") if (text := item.strip())}
    assert {text: one.codes for text, one in found.items() if one.diagnostics} == {}
    emitted = {sql(lowered(one.value.expression)): one for one in found.values()}
    assert differences(spark, emitted) == []


def test_cells_are_the_buffers_in_the_state(spark: SparkSession, tmp_path: Path) -> None:
    """A real batch of a streaming aggregate, its state store's schema read back."""
    columns = [
        n for n in COLUMNS if n not in ("small", "wide", "day", "ntz", "days", "months", "v")
    ]
    schema = ", ".join(f"{name} {COLUMNS[name]}" for name in columns)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.json").write_text(json.dumps({"i": 1}) + "\n")
    texts = [text for item in AGGREGATES.split(" | ") if (text := item.strip())]
    texts = [x for x in texts if not any(w in x for w in ("months", "days", "FILTER", "/", "coal"))]
    aggregates = [checked(text).aggregates[0] for text in texts]
    found = {canonical(one.call): one for one in aggregates}
    expected = [
        f"{cell.buffer}:{spelt(str(cell.type))}"
        for one in found.values()
        for cell in one.function.cells(one.argument_types)
    ]
    query = (
        spark.readStream.schema(schema)
        .json(str(tmp_path / "in"))
        .selectExpr("*", "i AS k")
        .groupBy("k")
        .agg(*(spark_column(one.call).alias(f"c{i}") for i, one in enumerate(aggregates)))
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(tmp_path / "state"))
        .trigger(availableNow=True)
        .foreachBatch(lambda rows, _: rows.collect())
        .start()
    )
    query.awaitTermination()
    store = spark.read.format("statestore").load(str(tmp_path / "state"))
    value = store.schema["value"].dataType
    assert [f"{f.name}:{spelt(f.dataType.simpleString())}" for f in value.fields] == expected


def spark_column(call: e.Call) -> Column:
    """Return an aggregate as the script has it."""
    from pyspark.sql import functions as F

    column: Column = eval(value(call), {"F": F})
    return column


def test_spark_calls_aggregates_by_the_names_in_the_table(
    spark: SparkSession, relation: DataFrame
) -> None:
    for item in AGGREGATES.split(" | "):
        for one in checked(item.strip()).aggregates if item.strip() else ():
            row = relation.agg(spark_column(one.call))
            plan = row._jdf.queryExecution().sparkPlan().toString()
            assert f"{one.function.spark_function}(" in plan, plan


def test_the_catalogue_lists_sparks_functions(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert [name for name in names() if name not in listed] == []
    for name in ("substring", "hour", "coalesce", "mask"):
        found = shape(name)
        assert found is not None
        below = ", ".join(["NULL"] * (found.least - 1))
        assert is_refused(spark, f"{name}({below})")
