"""Types by themselves: names, common types, casts, intervals."""

from __future__ import annotations

import pytest
from streamc.compiler.model import types as t
from streamc.compiler.model.coercion import can_cast, can_compare, common_type
from streamc.compiler.model.intervals import (
    duration_text,
    interval_micros,
    interval_months,
    micros_text,
)
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast import types as ast
from streamc.dsl.ast.node import Name
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile, Span
from streamc.dsl.reports.suggest import closest, did_you_mean

AT = Span(0, 0)


def simple(name: str, *parameters: int) -> ast.SimpleType:
    return ast.SimpleType(AT, name, parameters)


def read(node: ast.TypeNode) -> tuple[t.Type, list[str]]:
    diagnostics = Diagnostics(SourceFile("x.stream", ""))
    type_ = t.from_node(node, diagnostics)
    return type_, [f"{d.code.slug}: {d.help}" for d in diagnostics]


def interval(*parts: tuple[str, str]) -> e.Interval:
    return e.Interval(AT, tuple(e.IntervalPart(AT, amount, unit) for amount, unit in parts))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (simple("STRING"), "STRING"),
        (simple("INTEGER"), "INT"),
        (simple("LONG"), "BIGINT"),
        (simple("DECIMAL"), "DECIMAL(10,0)"),
        (simple("NUMERIC", 12, 2), "DECIMAL(12,2)"),
        (simple("INTERVAL DAY TO SECOND"), "INTERVAL DAY TO SECOND"),
        (simple("INTERVAL MONTH"), "INTERVAL MONTH"),
        (ast.CollectionType(AT, "ARRAY", (simple("TIMESTAMP"),)), "ARRAY<TIMESTAMP>"),
        (
            ast.CollectionType(AT, "MAP", (simple("STRING"), simple("DECIMAL", 5))),
            "MAP<STRING, DECIMAL(5,0)>",
        ),
        (
            ast.StructType(
                AT,
                (
                    ast.StructField(AT, Name(AT, "a"), simple("INT")),
                    ast.StructField(AT, Name(AT, "b"), simple("STRING")),
                ),
            ),
            "STRUCT<a: INT, b: STRING>",
        ),
        (
            ast.StructType(AT, (ast.StructField(AT, Name(AT, "a `b"), simple("INT")),)),
            "STRUCT<`a ``b`: INT>",
        ),
    ],
)
def test_a_type_is_spelt_as_spark_spells_it(node: ast.TypeNode, text: str) -> None:
    type_, diagnostics = read(node)
    assert (str(type_), diagnostics) == (text, [])


@pytest.mark.parametrize(
    ("node", "diagnostic"),
    [
        (simple("STRNG"), "unknown-type: did you mean `STRING`?"),
        (simple("VARCHAR", 20), "unknown-type: did you mean `STRING`?"),
        (simple("DATETIME"), "unknown-type: did you mean `TIMESTAMP`?"),
        (simple("INTERVAL SECOND TO DAY"), None),
        (simple("DECIMAL", 39, 2), "bad-type-parameters: write `DECIMAL(38, 2)`"),
        (simple("DECIMAL", 5, 6), "bad-type-parameters: write `DECIMAL(38, 6)`"),
        (simple("DECIMAL", 1, 2, 3), "bad-type-parameters: write `DECIMAL(12, 2)`"),
        (simple("STRING", 3), "bad-type-parameters: write `STRING`"),
        (ast.CollectionType(AT, "SET", (simple("INT"),)), "state-only-type: write `ARRAY<…>`"),
    ],
)
def test_a_wrong_type_name_is_reported_once(node: ast.TypeNode, diagnostic: str | None) -> None:
    _, diagnostics = read(node)
    assert len(diagnostics) == 1
    assert diagnostic is None or diagnostics == [diagnostic]


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (t.TINYINT, t.BIGINT, "BIGINT"),
        (t.FLOAT, t.FLOAT, "FLOAT"),
        (t.INT, t.FLOAT, "DOUBLE"),
        (t.Decimal(12, 2), t.INT, "DECIMAL(12,2)"),
        (t.Decimal(12, 2), t.BIGINT, "DECIMAL(22,2)"),
        (t.Decimal(38, 18), t.Decimal(38, 0), "DECIMAL(38,0)"),
        (t.Decimal(5, 2), t.DOUBLE, "DOUBLE"),
        (t.DATE, t.TIMESTAMP, "TIMESTAMP"),
        (t.DATE, t.TIMESTAMP_NTZ, "TIMESTAMP_NTZ"),
        (t.STRING, t.BINARY, "BINARY"),
        (t.NULL, t.INT, "INT"),
        (t.UNKNOWN, t.INT, "UNKNOWN"),
        (t.IntervalType("HOUR", "HOUR"), t.IntervalType("DAY", "DAY"), "INTERVAL DAY TO HOUR"),
        (t.DAY_TIME, t.YEAR_MONTH, "None"),
        (t.STRING, t.INT, "None"),
        (t.STRING, t.TIMESTAMP, "None"),
        (t.BOOLEAN, t.INT, "None"),
        (t.Array(t.INT), t.Array(t.BIGINT), "ARRAY<BIGINT>"),
        (t.Array(t.INT), t.Array(t.STRING), "None"),
    ],
)
def test_two_types_have_one_in_common_whichever_comes_first(
    left: t.Type, right: t.Type, common: str
) -> None:
    assert str(common_type(left, right)) == common
    if t.UNKNOWN not in (left, right):
        assert str(common_type(right, left)) == common


def test_maps_and_variants_have_no_order() -> None:
    assert not can_compare(t.Map(t.STRING, t.INT), t.Map(t.STRING, t.INT))
    assert not can_compare(t.VARIANT, t.VARIANT)
    assert can_compare(t.Array(t.INT), t.Array(t.BIGINT))


def test_casts_that_never_succeed() -> None:
    assert can_cast(t.STRING, t.TIMESTAMP)
    assert can_cast(t.UNKNOWN, t.Array(t.INT))
    assert not can_cast(t.INT, t.DATE)
    assert not can_cast(t.STRING, t.Array(t.INT))
    assert not can_cast(t.Map(t.STRING, t.INT), t.VARIANT)


def test_a_type_with_an_unknown_part_is_not_known() -> None:
    assert t.is_known(t.Array(t.INT))
    assert not t.is_known(t.Map(t.STRING, t.Array(t.UNKNOWN)))
    assert not t.is_known(t.Struct((t.Field("a", t.UNKNOWN),)))


@pytest.mark.parametrize(
    ("parts", "micros", "text"),
    [
        ([("30", "SECOND")], 30_000_000, "30 seconds"),
        ([("1", "MINUTE")], 60_000_000, "1 minute"),
        ([("90", "SECOND")], 90_000_000, "90 seconds"),
        ([("1", "HOUR"), ("30", "MINUTE")], 5_400_000_000, "1 hour 30 minutes"),
        ([("01", "HOUR")], 3_600_000_000, "1 hour"),
        ([("2", "WEEK")], 1_209_600_000_000, "2 weeks"),
        ([("1.50", "SECOND")], 1_500_000, "1.5 seconds"),
        ([("-5", "MINUTE")], -300_000_000, "-5 minutes"),
        ([("250", "MILLISECOND")], 250_000, "250 milliseconds"),
        ([("1 12", "DAY TO HOUR")], 129_600_000_000, "1 day 12 hours"),
        ([("10:30", "HOUR TO MINUTE")], 37_800_000_000, "10 hours 30 minutes"),
        ([("1", "MONTH")], None, None),
        ([("1.5", "MINUTE")], None, None),
        ([("1.1234567", "SECOND")], None, None),
        ([("x", "SECOND")], None, None),
        ([("1", "FORTNIGHT")], None, None),
        ([("1:2:3", "DAY TO HOUR")], None, None),
    ],
)
def test_intervals_have_a_length_and_the_text_that_spark_takes(
    parts: list[tuple[str, str]], micros: int | None, text: str | None
) -> None:
    node = interval(*parts)
    assert (interval_micros(node), duration_text(node)) == (micros, text)


def test_months_and_years_have_a_length_in_months() -> None:
    assert interval_months(interval(("1", "YEAR"), ("2", "MONTH"))) == 14
    assert interval_months(interval(("1-2", "YEAR TO MONTH"))) == 14
    assert interval_months(interval(("1", "DAY"))) is None


def test_lengths_read_as_the_fewest_whole_units() -> None:
    assert micros_text(90_000_000) == "1 minute 30 seconds"
    assert micros_text(86_400_000_001) == "1 day 1 microsecond"
    assert micros_text(-60_000_000) == "-1 minute"
    assert micros_text(0) == "0 seconds"


def test_suggestions_go_by_distance_then_beginning_then_name() -> None:
    assert closest("amont", ["mount", "amount", "amend"], n=3) == ("amount", "amend", "mount")
    assert closest("ab", ["ac", "xy"]) == ("ac",)
    assert closest("count_distinct", ["count", "country"]) == ("count",)
    assert closest("TOTAL", ["total"]) == ("total",)
    assert did_you_mean("zebra", ["amount"]) is None
