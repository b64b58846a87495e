"""Values of tests: as Spark gives them, as YAML and JSON have them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from streamc.compiler.cases.values import json_text, spark_value, yaml_text
from streamc.compiler.model import types as t


@pytest.mark.parametrize(
    ("type_", "value", "read"),
    [
        (t.Decimal(12, 2), Decimal("1.5"), Decimal("1.50")),
        (t.DOUBLE, "Infinity", float("inf")),
        (t.TIMESTAMP, "2026-01-01T10:00:00.120000Z", "2026-01-01T10:00:00.12Z"),
        (t.TIMESTAMP, "+10000-01-01T00:00:00Z", "+10000-01-01T00:00:00Z"),
        (t.TIMESTAMP_NTZ, "2026-01-01T10:00:00.000000", "2026-01-01T10:00:00"),
        (t.DAY_TIME, "INTERVAL '0 00:01:30.500000' DAY TO SECOND", "0 00:01:30.5"),
        (t.Struct((t.Field("x", t.INT),)), {"x": 1}, {"x": 1}),
        (t.Map(t.STRING, t.DOUBLE), {"k": 1}, {"k": 1.0}),
        (t.Array(t.VARIANT), [{"n": Decimal("0.5")}, None], [{"n": 0.5}, None]),
    ],
)
def test_values_of_spark(type_: t.Type, value: object, read: object) -> None:
    assert spark_value(value, type_) == read


@pytest.mark.parametrize(
    ("value", "yaml", "json"),
    [
        ("no", "'no'", '"no"'),
        ("a b", "a b", '"a b"'),
        ("it's", "'it''s'", '"it\'s"'),
        ("a\nb", '"a\\nb"', '"a\\nb"'),
        (float("nan"), ".nan", '"NaN"'),
        (Decimal("1E+2"), "100", "100"),
        ([True, None], "[true, null]", "[true, null]"),
    ],
)
def test_values_as_text(value: object, yaml: str, json: str) -> None:
    assert (yaml_text(value), json_text(value)) == (yaml, json)
