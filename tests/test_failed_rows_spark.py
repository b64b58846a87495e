"""A row on which an expression fails: what is reported, and when nothing may be."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from run_case import FIRST_ARRIVAL
from streamc.runtime import Arguments, RuntimeFault, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long

HEAD = """---
pipeline: failing
variables: {{root: null}}
state_backend: {state}
spark: {{spark.sql.shuffle.partitions: 1}}
---
CREATE SOURCE e ({columns}) WITH (connector = 'files', path = '${{root}}/e', format = '{format}');
"""
FLAT = "v INT, s STRING, n BIGINT"
COLUMNS = f"{FLAT}, xs ARRAY<INT>, r STRUCT<a: INT>, d DECIMAL(4, 2), at TIMESTAMP"
COLUMNS += ", WATERMARK FOR at AS at - INTERVAL 0 SECONDS"
GOOD = {"v": 5, "s": "1", "n": 1, "xs": [1], "r": {"a": 1}, "d": 1, "at": "2026-01-01T10:00:00Z"}
BAD = {"v": 0, "s": "x", "n": 2**63 - 1, "xs": [], "r": {"a": 0}, "d": 99.99}
BAD["at"] = "2026-01-01T10:00:01Z"


def failing(spark: SparkSession, root: Path, spec: str, files: Mapping[str, str]) -> RuntimeFault:
    """Run a spec on files, by their paths; returns the one way in which it fails."""
    put(root, files)
    return run(spark, root, spec)


def put(root: Path, files: Mapping[str, str]) -> None:
    for number, (path, text) in enumerate(files.items()):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        os.utime(root / path, (FIRST_ARRIVAL + number,) * 2)


def run(spark: SparkSession, root: Path, spec: str) -> RuntimeFault:
    result = compiled_text(spec, "failing.stream")
    assert result.script is not None, [one.message for one in result.diagnostics]
    script = written(result, root)
    asked = Arguments(True, {"root": str(root)}, state=str(root / "state"))
    [fault] = run_script(script, asked, spark=spark, folders=[str(root)]).failures
    assert fault.code.number == "SR0501"
    return fault


def told(fault: RuntimeFault, root: Path) -> list[str]:
    """Return the lines below the reason, with short names of files."""
    lines = fault.message.replace(f"file://{root}/", "").splitlines()[1:]
    return [line.strip() for line in lines]


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def given(body: str, columns: str = COLUMNS, format: str = "json", state: str = "memory") -> str:
    end = "CREATE SINK o FROM q WITH (connector = 'memory');\n"
    return HEAD.format(columns=columns, format=format, state=state) + body + end


# Each kind of failure, each place in a query.

WITH_TABLE = """CREATE TABLE t (k STRING, z INT)
WITH (connector = 'files', path = '${root}/t', format = 'csv');
"""
WINDOW = "FROM TUMBLE(e, at, INTERVAL 1 MINUTE) GROUP BY window_start"
KINDS = {
    "division": ("SELECT 100 / v AS x FROM e", "100 / v", "`v` is 0"),
    "modulo": ("SELECT n % v AS x FROM e", "n % v", "`n` is 9223372036854775807, `v` is 0"),
    "cast": ("SELECT CAST(s AS INT) + v AS x FROM e", "CAST(s AS INT)", '`s` is "x"'),
    "overflow": ("SELECT v, n + 1 AS x FROM e", "n + 1", "`n` is 9223372036854775807"),
    "decimal": (
        "SELECT CAST(d * 10 AS DECIMAL(4, 2)) AS x FROM e",
        "CAST(d * 10 AS DECIMAL(4, 2))",
        "`d` is 99.99",
    ),
    "element": ("SELECT element_at(xs, 1) AS x FROM e", "element_at(xs, 1)", "`xs` is []"),
    "index": ("SELECT xs[v] AS x FROM e WHERE v = 0", "xs[v]", "`xs` is [], `v` is 0"),
    "field": ("SELECT 1 / r.a AS x FROM e", "1 / r.a", "`r.a` is 0"),
    "lambda": (
        "SELECT transform(array(v), x -> 1 / x) AS x FROM e",
        "1 / x",
        "`v` is 0",
    ),
    "raised": (
        "SELECT raise_error(concat('no ', s)) AS x FROM e WHERE v = 0",
        "raise_error(concat('no ', s))",
        '`s` is "x"',
    ),
    "raised in a case": (
        "SELECT CASE WHEN v < 1 THEN raise_error('no') ELSE v END AS x FROM e",
        None,
        "`v` is 0",
    ),
    "where": ("SELECT s FROM e WHERE 10 / v > 1", "10 / v", "`v` is 0"),
    "where by the time": (
        "SELECT 10 / v AS x FROM e WHERE at < current_timestamp()",
        "10 / v",
        "`v` is 0",
    ),
    "key": (f"SELECT COUNT(*) AS n {WINDOW}, 10 / v", "10 / v", "`v` is 0"),
    "argument": (f"SELECT window_start, SUM(100 / v) AS x {WINDOW}", "100 / v", "`v` is 0"),
    "filter of an aggregate": (
        f"SELECT window_start, SUM(v) FILTER (WHERE 10 / v > 1) AS x {WINDOW}",
        "10 / v",
        "`v` is 0",
    ),
    "argument in panes": (
        "SELECT window_start, SUM(100 / v) AS x "
        "FROM HOP(e, at, INTERVAL 30 SECONDS, INTERVAL 1 MINUTE) GROUP BY window_start",
        "100 / v",
        "`v` is 0",
    ),
    "distinct argument": (
        f"SELECT window_start, COUNT(DISTINCT 100 / v) AS x {WINDOW}",
        "100 / v",
        "`v` is 0",
    ),
    "lookup": ("SELECT 100 / e.v AS x FROM e JOIN t ON e.s = t.k", "100 / e.v", "`v` is 0"),
    "outer lookup": (
        "SELECT e.v / t.z AS x FROM e LEFT JOIN t ON e.s = t.k",
        "e.v / t.z",
        "`v` is 0, `z` is 0",
    ),
    "key of a lookup": ("SELECT z FROM e JOIN t ON 10 DIV e.v = t.z", "10 DIV e.v", "`v` is 0"),
}


SHORT = ("division", "cast", "element", "where", "argument", "outer lookup")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[] if k in SHORT else LONG) for k in KINDS],
)
def test_the_row_is_reported(kind: str, tmp_path: Path, spark: SparkSession) -> None:
    query, expression, values = KINDS[kind]
    body = (WITH_TABLE if " t ON " in query else "") + f"CREATE STREAM q AS {query};\n"
    files = {
        "e/a.json": lines(GOOD),
        "e/b.json": lines(GOOD, GOOD) + "\n" + lines(BAD, GOOD),
        "t/t.csv": "k,z\n1,1\nx,0\n",
    }
    fault = failing(spark, tmp_path, given(body), files)
    wanted = [] if expression is None else [f"in `{expression}`"]
    assert told(fault, tmp_path) == [*wanted, f"at e/b.json:4, where {values}"]


# Formats.


@pytest.mark.parametrize(
    ("format", "columns", "text", "place"),
    [
        ("csv", "v INT, s STRING", 'v,s\n1,a\n\n2,"b\nc"\n0,d\n', "at e/1.csv:6"),
        ("text", "s STRING", "1\n\n2\nx\n", "at e/1.text:2"),
    ],
)
def test_files_of_lines(
    format: str, columns: str, text: str, place: str, tmp_path: Path, spark: SparkSession
) -> None:
    spec = given("CREATE STREAM q AS SELECT 1 / CAST(s AS INT) AS x FROM e;\n", columns, format)
    if format == "csv":
        spec = given("CREATE STREAM q AS SELECT 1 / v AS x FROM e;\n", columns, format)
        spec = spec.replace("format = 'csv'", "format = 'csv', spark.multiLine = 'true'")
    fault = failing(spark, tmp_path, spec, {f"e/1.{format}": text})
    assert told(fault, tmp_path)[1].startswith(f"{place}, where ")


SPLIT = ("spark: {", "spark: {spark.sql.files.maxPartitionBytes: 4096, ")
"""Files are read in parts; in a search for a row, they are read whole."""


def test_a_line_of_a_file_that_is_read_in_parts(tmp_path: Path, spark: SparkSession) -> None:
    spec = given("CREATE STREAM q AS SELECT 10 / v AS x FROM e;\n").replace(*SPLIT)
    files = {"e/1.json": lines(*[GOOD] * 200, BAD, *[GOOD] * 10)}
    fault = failing(spark, tmp_path, spec, files)
    assert told(fault, tmp_path)[1] == "at e/1.json:201, where `v` is 0"


@pytest.mark.parametrize("format", ["parquet", pytest.param("orc", marks=LONG)])
def test_files_whose_rows_have_numbers(format: str, tmp_path: Path, spark: SparkSession) -> None:
    """Numbers count all rows, also those that the format's own filters leave out."""
    rows = spark.range(20_000).selectExpr("CAST(IF(id = 15000, 0, 1) AS INT) AS v", "id AS n")
    small = {
        "parquet.block.size": "4096",
        "orc.stripe.size": "4096",
        "orc.row.index.stride": "1000",
    }
    rows.coalesce(1).write.options(**small).format(format).save(str(tmp_path / "e"))
    [file] = (tmp_path / "e").glob(f"part-*.{format}")
    for other in (tmp_path / "e").iterdir():
        if other != file:
            other.unlink()
    body = "CREATE STREAM q AS SELECT 100 / v AS x FROM e WHERE n > 14000;\n"
    spec = given(body, "v INT, n BIGINT", format).replace(*SPLIT)
    fault = run(spark, tmp_path, spec)
    assert told(fault, tmp_path) == ["in `100 / v`", f"at e/{file.name}, row 15001, where `v` is 0"]


def test_a_null_in_files_that_spark_reads(tmp_path: Path, spark: SparkSession) -> None:
    rows = spark.range(3).selectExpr("IF(id = 1, NULL, id) AS n")
    rows.coalesce(1).write.parquet(str(tmp_path / "e"))
    [file] = (tmp_path / "e").glob("part-*.parquet")
    spec = given("CREATE STREAM q AS SELECT n FROM e;\n", "n BIGINT NOT NULL", "parquet")
    fault = run(spark, tmp_path, spec)
    assert "source `e` has a malformed row: NULL in `n`" in fault.message
    assert told(fault, tmp_path) == [f"at e/{file.name}, row 2, where `n` is NULL"]


# Which row: never one for which the query has not computed the expression.


LEFT_OUT = [
    "WITH f AS (SELECT v, 10 / n AS x FROM e) SELECT x FROM f WHERE v > 1 AND x > 0",
    "SELECT 10 / n AS x FROM e WHERE v > 1",
    "SELECT v FROM e WHERE v > 1 AND 10 / n > 0",
    "SELECT v FROM e WHERE (v > 1 OR v < -100) AND 10 / n > 0",
    "WITH f AS (SELECT s, 10 / n AS x FROM e) SELECT x FROM f JOIN t ON f.s = t.k",
    "SELECT SUM(10 / n) FILTER (WHERE v > 1) AS x FROM TUMBLE(e, at, INTERVAL 1 MINUTE) "
    "GROUP BY window_start",
    "SELECT CASE WHEN v > 1 THEN 10 / n END AS x FROM e",
    "SELECT 10 / n AS x FROM e JOIN t ON e.s = t.k",
    "SELECT 10 / n AS x FROM e JOIN t ON e.s = t.k AND e.v > t.z",
]
OFTEN = (0, 3, 5, 8)


@pytest.mark.parametrize(
    "query",
    [pytest.param(q, marks=[] if n in OFTEN else LONG) for n, q in enumerate(LEFT_OUT)],
)
def test_a_row_that_is_left_out_is_not_reported(
    query: str, tmp_path: Path, spark: SparkSession
) -> None:
    rows = [{**GOOD, "n": 0, "v": v, "s": s} for v, s in [(0, "a"), (None, "b"), (3, "1")]]
    body = (WITH_TABLE if " t ON " in query else "") + f"CREATE STREAM q AS {query};\n"
    files = {"e/1.json": lines(GOOD, *rows), "t/t.csv": "k,z\n1,1\n"}
    fault = failing(spark, tmp_path, given(body), files)
    expression, place = told(fault, tmp_path)
    assert expression in ("in `10 / n`", "in `10 / e.n`")
    assert place == "at e/1.json:4, where `n` is 0"


def test_of_two_sources_the_one_that_failed(tmp_path: Path, spark: SparkSession) -> None:
    body = """CREATE SOURCE f (v INT)
    WITH (connector = 'files', path = '${root}/f', format = 'json');
    CREATE STREAM q AS SELECT 10 / v AS x FROM e UNION ALL SELECT 20 / v AS x FROM f;
    """
    bad = lines({"v": 0})
    fault = failing(spark, tmp_path, given(body), {"e/1.json": lines(GOOD), "f/1.json": bad})
    assert told(fault, tmp_path) == ["in `20 / v`", "at f/1.json:1, where `v` is 0"]


def test_a_row_of_a_table(tmp_path: Path, spark: SparkSession) -> None:
    body = f"{WITH_TABLE}CREATE STREAM q AS SELECT v FROM e JOIN t ON e.v = 10 DIV t.z;\n"
    files = {"e/1.json": lines(GOOD), "t/t.csv": "k,z\na,0\n"}
    fault = failing(spark, tmp_path, given(body), files)
    assert told(fault, tmp_path) == ["in `10 DIV t.z`", "in a row of table `t`, where `z` is 0"]


# Where no row can be reported: the batch, and what it has read.

UNKNOWN = {
    "behind an aggregate": (
        f"CREATE STREAM q AS SELECT window_start, 10 / MIN(v) AS x {WINDOW} EMIT CHANGES;",
        "10 / min(v)",
    ),
    "behind a deduplication": (
        "CREATE STREAM q AS SELECT s FROM "
        "(SELECT DISTINCT ON (s) WITHIN INTERVAL 1 MINUTE s, v FROM e) AS once WHERE 10 / v > 1;",
        "10 / v",
    ),
    "a sum": (
        f"CREATE STREAM q AS SELECT window_start, SUM(n) AS x {WINDOW};",
        None,
    ),
    "a Python function": (
        "CREATE FUNCTION f(v INT) RETURNS INT AS 'refusing:f';\n"
        "CREATE STREAM q AS SELECT f(v) AS x FROM e;",
        None,
    ),
}


@pytest.mark.parametrize(
    "where",
    [pytest.param(w, marks=LONG if w == "behind a deduplication" else []) for w in UNKNOWN],
)
def test_no_row_is_reported(where: str, tmp_path: Path, spark: SparkSession) -> None:
    body, expression = UNKNOWN[where]
    refusing = "def f(v):\n    raise ValueError('no')\n"
    (tmp_path / "refusing.py").write_text(refusing, encoding="utf-8")
    files = {f"e/{n}.json": lines(row) for n, row in enumerate([BAD, GOOD, BAD])}
    spec = given(body + "\n", state="rocksdb" if "WITHIN" in body else "memory")
    found = told(failing(spark, tmp_path, spec, files), tmp_path)
    assert found[-1] == "in batch 1, which read `e`: e/0.json to e/2.json (3 files)"
    assert expression is None or f"in `{expression}`" in found


OPERATOR = """CREATE OPERATOR q ON e PARTITION BY s ORDER BY at RETURNS (s STRING, x DOUBLE) AS
ON EVENT
  EMIT s, 10 / v;
END;
"""


def test_an_operator_reports_its_row(tmp_path: Path, spark: SparkSession) -> None:
    """It handles the row in a later batch than the one that read it."""
    fault = failing(spark, tmp_path, given(OPERATOR, state="rocksdb"), {"e/1.json": lines(BAD)})
    row, *others = told(fault, tmp_path)
    assert row.startswith("in operator `q`, ON EVENT e, key (s = x), row (v = 0, ")
    assert others == ["in `10 / v`", "in batch 2"]


def test_a_row_is_reported_alike_when_the_job_starts_again(
    tmp_path: Path, spark: SparkSession
) -> None:
    spec = given("CREATE STREAM q AS SELECT 10 / v AS x FROM e;\n")
    first = failing(spark, tmp_path, spec, {"e/1.json": lines(GOOD, BAD, BAD)})
    assert "1.json:2," in first.message
    assert run(spark, tmp_path, spec).message == first.message


def test_values_take_a_line_and_no_more(tmp_path: Path, spark: SparkSession) -> None:
    columns = ", ".join(f"c{n} INT" for n in range(12)) + ", s STRING"
    row = {f"c{n}": n for n in range(12)} | {"s": "a\n\x1b[31m" + "x" * 500}
    text = "concat(s, " + ", ".join(f"CAST(c{n} AS STRING)" for n in range(12)) + ")"
    body = f"CREATE STREAM q AS SELECT CAST(s AS INT) AS x, raise_error({text}) AS y FROM e;\n"
    fault = failing(spark, tmp_path, given(body, columns), {"e/1.json": lines(row)})
    [line] = [line for line in told(fault, tmp_path) if line.startswith("at e/1.json:1, where ")]
    assert len(line) < 300 and "\x1b" not in line


# In a test of a spec a row is one of its steps.


def test_steps(tmp_path: Path, spark: SparkSession) -> None:
    from test_spec_tests_spark import outcome_text, outcomes

    spec = """CREATE SOURCE e (v INT, s STRING, at TIMESTAMP, WATERMARK FOR at AS at)
    WITH (connector = 'files', path = 'in', format = 'json');
    CREATE STREAM q AS SELECT 10 / v AS x FROM e;
    CREATE STREAM w AS SELECT window_start, 10 / MIN(v) AS x
      FROM TUMBLE(e, at, INTERVAL 1 MINUTE) GROUP BY window_start EMIT CHANGES;
    CREATE SINK o FROM {} WITH (connector = 'memory');
    """
    case = """name: a row
ways: [as written]
steps:
  - e: [{v: 1, at: "2026-01-01T10:00:00Z"}]
  - e: [{v: 2, at: "2026-01-01T10:00:01Z"}, {v: 0, at: "2026-01-01T10:00:02Z"}]
  - expect: {o: []}
"""
    found = []
    for stream in "qw":
        folder = tmp_path / stream
        (folder / "tests").mkdir(parents=True)
        (folder / "spec.stream").write_text(spec.replace("{}", stream), encoding="utf-8")
        (folder / "tests" / "case.yaml").write_text(case, encoding="utf-8")
        [outcome] = outcomes([folder], spark)
        found.append([line.strip() for line in outcome_text(outcome).splitlines()])
    row, batch = found
    assert "in `10 / v`" in row and "at line 2 of batch 2 of `e`, where `v` is 0" in row
    assert "in `10 / min(v)`" in batch and "in batch 2 of `e`" in batch
