"""Values of tests: as Spark returns them, and in YAML and JSON."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamc.compiler.model import types as t
from streamc.compiler.spec_tests.values import json_text, spark_value
from streamc.dsl.yaml.nodes import Node, Scalar, Sequence, read_documents
from streamc.dsl.yaml.text import yaml_line


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
        ("it's", "it's", '"it\'s"'),
        ("12", "'12'", '"12"'),
        ("a: b", "'a: b'", '"a: b"'),
        ("a\nb", '"a\\nb"', '"a\\nb"'),
        (float("nan"), ".nan", '"NaN"'),
        (Decimal("1E+2"), "100", "100"),
        (Decimal("1.50"), "1.50", "1.50"),
        ([True, None], "[true, null]", "[true, null]"),
        ({"a, b": "x" * 200}, f"{{'a, b': {'x' * 200}}}", f'{{"a, b": "{"x" * 200}"}}'),
    ],
)
def test_values_as_text(value: object, yaml: str, json: str) -> None:
    assert (yaml_line(value), json_text(value)) == (yaml, json)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=40), inner),
        max_leaves=8,
    )
)
def test_what_is_written_in_one_line_is_read_as_it_was(value: object) -> None:
    """By the reader of files next to a spec, which determines the type of each text."""
    line = yaml_line({"row": [value]})
    assert len(line.splitlines()) == 1
    (found,) = read_documents(line)
    assert _plain(found) == {"row": [value]}


def _plain(node: Node) -> object:
    match node:
        case Scalar(text, "null"):
            return None
        case Scalar(text, "bool"):
            return text == "true"
        case Scalar(text, "int"):
            return int(text)
        case Scalar(text):
            return text
        case Sequence(items):
            return [_plain(item) for item in items]
    return {key.text: _plain(value) for key, value in node.entries}
