"""Texts of instants by a pattern and in a zone: in tests of specs, and where these do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.run import run_tests
from streamc.dsl.reports.render import render
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.connectors.instants import check_instants
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = "id STRING, at TIMESTAMP, wall TIMESTAMP_NTZ"
DEEP = "deep STRUCT<xs ARRAY<TIMESTAMP>, kv MAP<STRING, TIMESTAMP>>"
READ = "timestamp_format = 'dd.MM.yyyy HH:mm', timestamp_zone = '+02:00'"
SPEC = f"""\
CREATE SOURCE of_json ({COLUMNS}, {DEEP}) ON MALFORMED ROWS SEND TO bad
  WITH (connector = 'files', path = 'in/json', format = 'json', {READ});
CREATE SOURCE of_csv ({COLUMNS})
  WITH (connector = 'files', path = 'in/csv', format = 'csv', {READ});
CREATE SOURCE of_kafka ({COLUMNS})
  WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'h:1', format = 'json', {READ});
CREATE STREAM all_of_them AS
  SELECT id, at, wall, deep.xs[0] AS x, deep.kv['k'] AS v FROM of_json
  UNION ALL SELECT id, at, wall, NULL AS x, NULL AS v FROM of_csv
  UNION ALL SELECT id, at, wall, NULL AS x, NULL AS v FROM of_kafka;
CREATE STREAM reasons AS SELECT reason FROM bad;
CREATE SINK everything FROM all_of_them WITH (connector = 'memory');
CREATE SINK rejected FROM reasons WITH (connector = 'memory');
"""
CASE = """
name: a value of a mapping is an instant, a line has the source's form
steps:
  - of_json:
      - {id: a, at: '2026-01-31T10:00:00.5Z', wall: '2026-01-31T10:00:00',
         deep: {xs: ['1969-12-31T23:59:59Z'], kv: {k: '9999-12-31T23:59:59Z'}}}
      - '{"id": "b", "at": "31.01.2026 10:00", "wall": "31.01.2026 10:00"}'
      - '{"id": "c", "at": "2026-01-31T10:00:00Z"}'
    of_csv:
      - {id: d, at: '2026-01-31T10:00:00Z', wall: '2026-01-31T10:00:00'}
      - 'e,31.01.2026 10:00,31.01.2026 10:00'
    of_kafka:
      - {id: f, at: '2026-01-31T10:00:00Z', wall: '2026-01-31T10:00:00'}
      - '{"id": "g", "at": "31.01.2026 10:00"}'
  - expect:
      everything:
        - {id: a, at: '2026-01-31T10:00:00.5Z', wall: '2026-01-31T10:00:00',
           x: '1969-12-31T23:59:59Z', v: '9999-12-31T23:59:59Z'}
        - {id: b, at: '2026-01-31T08:00:00Z', wall: '2026-01-31T10:00:00', x: null, v: null}
        - {id: d, at: '2026-01-31T10:00:00Z', wall: '2026-01-31T10:00:00', x: null, v: null}
        - {id: e, at: '2026-01-31T08:00:00Z', wall: '2026-01-31T10:00:00', x: null, v: null}
        - {id: f, at: '2026-01-31T10:00:00Z', wall: '2026-01-31T10:00:00', x: null, v: null}
        - {id: g, at: '2026-01-31T08:00:00Z', wall: null, x: null, v: null}
      rejected:
        - {reason: '`at` is "2026-01-31T10:00:00Z", which is not a valid TIMESTAMP'}
"""


def test_a_test_gives_values_and_lines(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "texts.stream").write_text(SPEC, encoding="utf-8")
    case = tmp_path / "tests" / "test.yaml"
    case.write_text(CASE, encoding="utf-8")
    suite = load_tests([case])
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    (outcome,) = run_tests(suite.tests, spark=spark)
    assert outcome.passed, (outcome.fault, outcome.failures)


@pytest.mark.parametrize(
    ("option", "setting", "text"),
    [
        ("timestamp_zone", "timeZone", "Europe/Olso"),
        ("timestamp_zone", "timeZone", ""),
        ("timestamp_format", "timestampFormat", "yyyy-MM-dd'T"),
        ("timestamp_format", "timestampFormat", "YYYY-MM-dd"),
        ("timestamp_format", "timestampFormat", "dd.MM.yyyy b"),
    ],
)
def test_what_does_not_exist_ends_the_start(
    spark: SparkSession, option: str, setting: str, text: str
) -> None:
    load_kernel(spark, kernel_jar(lambda line: None))
    with pytest.raises(RuntimeFault, match=f"source `s` has {option} `{text}`") as fault:
        check_instants(spark, "source `s`", {setting: text})
    assert fault.value.code.number == "SR0302"


@pytest.mark.parametrize("zone", ["UTC", "Z", "+18:00", "-03:30", "Europe/Oslo"])
def test_what_exists_is_accepted(spark: SparkSession, zone: str) -> None:
    load_kernel(spark, kernel_jar(lambda line: None))
    pattern = "d.M.y H:mm[:ss[.SSSSSSSSS]][ VV]"
    check_instants(spark, "source `s`", {"timeZone": zone, "timestampFormat": pattern})
