"""`streamc check --spark`: what only Spark can see, reported at its location in the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from compiled import compiled, compiled_text
from golden_extension import cases
from streamc.cli.shared.pages import read_page
from streamc.cli.specs.spark_check import check_on_spark
from streamc.dsl.reports.diagnostics import Diagnostics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CLICKS = """\
CREATE SOURCE clicks (
  page STRING,
  body STRING,
  cost DOUBLE,
  ts   TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 10 SECONDS
) WITH (connector = 'files', path = '${nowhere}', format = 'json');
"""
HEAD = f"---\nvariables: {{nowhere: null}}\n---\n{CLICKS}"


def found(spark: SparkSession, *specs: str) -> list[tuple[str, str | None, str]]:
    """Return the code, the note and the marked text of each thing that Spark rejects."""
    results = [compiled_text(spec, "spec.stream") for spec in specs]
    assert [len(result.diagnostics) for result in results] == [0] * len(specs)
    return [told(one) for one in check_on_spark(results, spark) if len(one)]


def told(diagnostics: Diagnostics) -> tuple[str, str | None, str]:
    (one,) = diagnostics
    note = one.notes[0].split()[-1] if one.notes else None
    return one.code.number, note, diagnostics.source.excerpt(one.primary.span)


def stream(query: str, more: str = "") -> str:
    return f"{HEAD}CREATE STREAM s AS {query};\n{more}" + (
        "CREATE SINK screen FROM s WITH (connector = 'console');\n"
    )


@pytest.mark.parametrize(
    ("query", "error", "marked"),
    [
        # Spark points at the text.
        (
            "SELECT page, FROM_JSON(body, 'id INTT') AS body FROM clicks",
            "PARSE_SYNTAX_ERROR",
            "FROM_JSON(body, 'id INTT')",
        ),
        (
            "SELECT page FROM clicks WHERE TO_NUMBER(page, 'x') > 3",
            "INVALID_FORMAT.WRONG_NUM_DIGIT",
            "TO_NUMBER(page, 'x')",
        ),
        # Spark names a field.
        (
            "SELECT page, window_start, MAX(FROM_JSON(body, 'id INT').cost) AS cost "
            "FROM TUMBLE(clicks, ts, INTERVAL 1 MINUTE) GROUP BY page, window_start",
            "FIELD_NOT_FOUND",
            "cost",
        ),
        # Only the optimiser sees it, in the whole query.
        (
            "SELECT page, CAST('abc' AS INT) + 1 AS n FROM clicks",
            "CAST_INVALID_INPUT",
            "CAST('abc' AS INT)",
        ),
    ],
)
def test_what_spark_refuses_is_marked(
    spark: SparkSession, query: str, error: str, marked: str
) -> None:
    assert found(spark, stream(query)) == [("SC0590", error, marked)]


def test_part_of_a_stream_is_reported_at_the_stream(spark: SparkSession) -> None:
    query = "SELECT page FROM (SELECT page, FROM_JSON(body, 'id INTT') AS j FROM clicks) AS parsed"
    assert found(spark, stream(query)) == [
        ("SC0590", "PARSE_SYNTAX_ERROR", "FROM_JSON(body, 'id INTT')")
    ]


def test_a_python_function_that_is_not_there(spark: SparkSession) -> None:
    spec = stream(
        "SELECT page, risk(cost) AS risk FROM clicks",
        "CREATE FUNCTION risk(cost DOUBLE) RETURNS DOUBLE AS 'no_such_module:risk';\n",
    )
    assert found(spark, spec) == [("SC0590", "SR0305", "risk")]


def test_sound_specs_and_the_page(spark: SparkSession) -> None:
    fails, mended = read_page("SC0590").specs
    sound = stream(
        "SELECT page, window_start, COUNT(*) AS n "
        "FROM TUMBLE(clicks, ts, INTERVAL 1 MINUTE) GROUP BY page, window_start"
    )
    assert found(spark, sound, fails, mended) == [("SC0590", "FIELD_NOT_FOUND", "price")]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_spark_takes_golden_scripts_and_keeps_their_state(every: int, spark: SparkSession) -> None:
    results = [compiled(case / "spec.stream", "spec.stream") for case in cases("golden")[::every]]
    refused = [one for diagnostics in check_on_spark(results, spark) for one in diagnostics]
    # The module of a Python function does not exist.
    assert [one.message for one in refused if "there is no module" not in one.message] == []
