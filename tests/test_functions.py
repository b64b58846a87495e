"""Functions: the catalogue, signatures, aggregates and the cells of their state."""

from __future__ import annotations

import pytest
from streamc.compiler.model import types as t
from streamc.compiler.model.catalogue import names, shape
from streamc.compiler.model.functions import aggregate, aggregate_names, function
from streamc.compiler.model.rules import RULES
from streamc.compiler.model.signature_table import SIGNATURES
from streamc.compiler.model.signatures import accepts, filled, signature

MONEY = t.Decimal(12, 2)


def cells(name: str, *types: t.Type, distinct: bool = False) -> list[str]:
    found = aggregate(name, distinct=distinct)
    assert found is not None
    return [f"{cell.buffer} {cell.type}" for cell in found.cells(types)]


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("count", (), ["count BIGINT"]),
        ("COUNT_IF", (t.BOOLEAN,), ["count BIGINT"]),
        ("sum", (t.INT,), ["sum BIGINT"]),
        ("sum", (t.FLOAT,), ["sum DOUBLE"]),
        ("sum", (MONEY,), ["sum DECIMAL(22,2)", "isEmpty BOOLEAN"]),
        ("sum", (t.Decimal(38, 4),), ["sum DECIMAL(38,4)", "isEmpty BOOLEAN"]),
        ("sum", (t.IntervalType("HOUR", "HOUR"),), ["sum INTERVAL HOUR"]),
        ("try_sum", (t.BIGINT,), ["sum BIGINT", "isEmpty BOOLEAN"]),
        ("avg", (t.INT,), ["sum DOUBLE", "count BIGINT"]),
        ("mean", (MONEY,), ["sum DECIMAL(22,2)", "count BIGINT"]),
        ("min", (t.STRING,), ["min STRING"]),
        ("max", (t.TIMESTAMP,), ["max TIMESTAMP"]),
        ("every", (t.BOOLEAN,), ["min BOOLEAN"]),
        ("some", (t.BOOLEAN,), ["max BOOLEAN"]),
        ("stddev", (t.INT,), ["n DOUBLE", "avg DOUBLE", "m2 DOUBLE"]),
        ("bit_xor", (t.SMALLINT,), ["bit_xor SMALLINT"]),
        (
            "max_by",
            (t.STRING, t.TIMESTAMP),
            ["valueWithExtremumOrdering STRING", "extremumOrdering TIMESTAMP"],
        ),
        ("any_value", (t.INT,), ["first INT", "valueSet BOOLEAN"]),
        ("regr_avgx", (t.INT, MONEY), ["sum DECIMAL(22,2)", "count BIGINT"]),
        ("array_agg", (t.INT,), ["buf BINARY"]),
    ],
)
def test_the_cells_of_an_aggregate(
    name: str, types: tuple[t.Type, ...], expected: list[str]
) -> None:
    assert cells(name, *types) == expected


def test_count_distinct_is_a_set() -> None:
    found = aggregate("count", distinct=True)
    assert found is not None
    assert (found.spark_function, found.result((t.INT,)), found.nullable) == (
        "collect_set",
        t.BIGINT,
        False,
    )
    assert cells("count", t.INT, distinct=True) == ["buf BINARY"]
    found = aggregate("sum", distinct=True)
    assert found is not None and "DISTINCT" not in found.clauses


@pytest.mark.parametrize(
    ("name", "spark", "pyspark"),
    [
        ("mean", "avg", "avg"),
        ("std", "stddev_samp", "stddev_samp"),
        ("any", "max", "bool_or"),
        ("count_if", "count", "count_if"),
        ("sum", "sum", "sum"),
    ],
)
def test_an_alias_is_the_function_it_stands_for(name: str, spark: str, pyspark: str) -> None:
    found = aggregate(name)
    assert found is not None
    assert (found.spark_function, found.pyspark_name) == (spark, pyspark)


def test_every_aggregate_is_one_of_sparks() -> None:
    unknown = [name for name in aggregate_names() if shape(name) is None]
    assert unknown == []


def test_the_catalogue_knows_groups_and_arities() -> None:
    assert len(names()) > 500
    assert shape("substring") == ("scalar", 2, 3)
    assert shape("coalesce") == ("scalar", 1, None)
    assert shape("row_number") == ("window", 0, 0)
    assert shape("explode") is not None
    assert function("SUBSTRING") is function("substring") or function("SUBSTRING") is not None
    assert function("no_such_function") is None


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_a_signature_agrees_with_the_catalogue(name: str) -> None:
    found, read = shape(name), signature(name)
    assert found is not None
    assert read is not None
    assert found.group == "scalar"
    assert read.rule is None or read.rule in RULES
    assert found.most is None or found.most == read.most
    known = function(name)
    assert known is not None
    assert found.least <= known.least <= max(found.least, len(read.parameters))


def test_a_hole_is_what_its_arguments_have_in_common() -> None:
    read = signature("array_append")
    assert read is not None and read.result is not None
    bound: dict[str, t.Type] = {}
    assert accepts(read.parameters[0], t.Array(t.INT), bound)
    assert accepts(read.parameters[1], t.BIGINT, bound)
    assert filled(read.result, bound) == t.Array(t.BIGINT)
    assert not accepts(read.parameters[1], t.STRING, bound)
