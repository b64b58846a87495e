"""Every operator on real Spark gives the right rows, however the input arrives.

The right rows are worked out by hand or by an oracle in plain Python. The input arrives in one
batch, row by row in one run, and in parts with a restart before each: the result may not differ.
`make test` runs each case in one of these ways, `make test-long` in the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chosen_ways import turn
from compiled import compiled, compiled_text, written
from golden_extension import cases
from run_case import (
    LONG,
    WAYS,
    Case,
    Rows,
    Way,
    comparable,
    compile_case,
    last_of_each,
    read_case,
    read_output,
    write_input,
)
from streamc.contracts.notes.status import QueryProgress
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from streamc.runtime.savepoints.process import take_savepoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
STRICT = Path(__file__).parent / "run_failures" / "strict.stream"


class Bench:
    """A case on disk: its script, and folders for what goes in, comes out and is kept."""

    def __init__(self, case: Case, root: Path, spark: SparkSession) -> None:
        self.case = case
        self.root = root
        result = compile_case(case.folder)
        assert result.plan is not None and result.script is not None and result.plan_json
        self.plan: dict[str, Any] = json.loads(result.plan_json)
        self.script = root / f"{case.folder.name}.py"
        self.script.write_text(result.script, encoding="utf-8")
        self.script.with_suffix(".plan.json").write_text(result.plan_json, encoding="utf-8")
        for source in case.inputs:
            (root / "in" / source).mkdir(parents=True)
        for table, rows in case.tables.items():
            write_input(root / "in" / table / "000", 0, rows, self.plan["tables"][table])
        for sink in self.plan["sinks"].values():
            # A module that an earlier run has loaded.
            sys.modules.pop(sink["options"].get("function", "").partition(":")[0], None)
        self._spark = spark
        self._kept: dict[str, Rows] = {}
        self.progress: Sequence[QueryProgress] = ()

    def run_all(self, way: Way) -> None:
        """Let the input arrive in one way; the rows of all runs add up."""
        arrivals = self.case.arrivals(way)
        starts = max(len(files) for files in arrivals.values())
        for number in range(starts):
            self._arrive(arrivals, number, starts)
            if way == "restarted":
                self._run()
        if way != "restarted":
            self._run(files=1)

    def run_from_savepoints(self) -> None:
        """Like the way ``restarted``, each start from a savepoint of the one before."""
        arrivals = self.case.arrivals("restarted")
        starts = max(len(files) for files in arrivals.values())
        for number in range(starts):
            self._arrive(arrivals, number, starts)
            self._run(savepoint=f"cut-{number - 1}" if number else None)
            take_savepoint(str(self.root / "state"), name=f"cut-{number}", spark=self._spark)

    def _arrive(self, arrivals: Mapping[str, Sequence[Rows]], number: int, starts: int) -> None:
        for source, files in arrivals.items():
            # The last files arrive together: after a restart Spark has forgotten how far each
            # source was, and the watermark waits until all of them have had rows again.
            own = number - (starts - len(files))
            if own >= 0:
                path = self.root / "in" / source / f"{own:03d}"
                write_input(path, own, files[own], self.plan["sources"][source])

    def rows(self) -> dict[str, Rows]:
        """Return what every sink got."""
        return {name: self._rows_of(name) for name in self.plan["sinks"]}

    def batches(self) -> dict[str, list[int]]:
        """Return the epoch of each file that the queries took, by source, from Spark's own log."""
        root = self.root / "state/generations/0001/sources"
        return {
            log.name: sorted(
                json.loads(line)["batchId"]
                for line in {
                    line
                    for path in log.iterdir()
                    if not path.name.startswith(".")
                    for line in path.read_text("utf-8").splitlines()[1:]
                }
            )
            for log in root.iterdir()
        }

    def _run(self, files: int = 1000, savepoint: str | None = None) -> None:
        variables = {"in": str(self.root / "in"), "files": str(files)}
        if "out" in self.plan["settings"]["variables"]:
            variables["out"] = str(self.root / "out")
        result = run_script(
            self.script,
            Arguments(
                until_caught_up=True,
                variables=variables,
                state=str(self.root / "state"),
                savepoint=savepoint,
            ),
            spark=self._spark,
            folders=[str(self.case.folder)],
            strict_ledger=True,
        )
        assert result.exit_code == 0, [failure.render() for failure in result.failures]
        self.progress = result.progress
        for sink, rows in result.rows.items():
            self._kept.setdefault(sink, []).extend(row.asDict(recursive=True) for row in rows)

    def _rows_of(self, sink: str) -> Rows:
        options = self.plan["sinks"][sink]["options"]
        match self.plan["sinks"][sink]["connector"]:
            case "files":
                return read_output(self.root / "out" / sink, options["format"])
            case "python":
                module, _, _ = options["function"].partition(":")
                rows: Rows = sys.modules[module].ROWS
                return rows
        return self._kept.get(sink, [])


STATELESS = (
    *("csv_options", "file_formats", "formats", "instants", "malformed_rows", "projection"),
    "written_files",
)
APART = (
    *("distinct_on", "distinct_on_forgets", "emit_changes", "future_rows"),
    *("proctime_windows", "sinks", "top_n_of_rows", "union", "upsert", "user_aggregates"),
    "window_offset",
)
"""One or two of each kind of operator and sink, with few queries: a batch for each row is quick."""
COVERED = (
    *("aggregate_over_aggregate", "cumulate", "equal_branches", "hopping", "join_inner"),
    *("join_left", "join_then_window", "random_join", "random_orders", "self_join", "sessions"),
    *("struct_keys", "top_n_ties", "tumbling", "upsert_ties"),
)
"""Windows and joins that `test_oracles` runs on hundreds of streams, and what `chains`, `names`,
`top_n_of_rows` and `upsert` show in fewer batches: long in every way."""


def ways_of(folder: Path) -> set[Way]:
    """The ways in which `make test` runs a case; it runs in the others in `make test-long`.

    Without state the way can only matter where files say so. Aggregates, windows and joins are also
    restarted before each batch by `test_oracles`, programs by the tests of the specs.
    """
    if folder.name in COVERED:
        return set()
    own: set[Way] = {way for way in WAYS if (folder / f"rows.{way}.yaml").exists()}
    if folder.name in STATELESS:
        return own | {turn(folder.name, WAYS)}
    apart: Sequence[Way] = ("row_by_row", "restarted")
    return own | {turn(folder.name, apart) if folder.name in APART else "whole"}


RUNS = [
    pytest.param(
        folder, way, id=f"{folder.name}-{way}", marks=[] if way in ways_of(folder) else LONG
    )
    for folder in cases("run")
    for way in WAYS
]


@pytest.mark.parametrize(("folder", "way"), RUNS)
def test_run(folder: Path, way: Way, tmp_path: Path, spark: SparkSession) -> None:
    case = read_case(folder)
    bench = Bench(case, tmp_path, spark)
    assert bool(bench.plan["operators"]) == (folder.name not in STATELESS)
    bench.run_all(way)
    got, right = bench.rows(), case.right[way]
    for sink, keys in case.keys.items():
        if f"rows.{way}.yaml" not in {path.name for path in folder.iterdir()}:
            got[sink] = last_of_each(got[sink], keys)
    assert {name: comparable(rows) for name, rows in got.items()} == {
        name: comparable(rows) for name, rows in right.items()
    }
    # Streams of late and of malformed rows have also read what they give.
    assert [q.query for q in bench.progress if q.rows_out and not q.rows_in] == []
    if way == "row_by_row":
        found = bench.batches()
        assert found.keys() == case.inputs.keys()
        for source, batches in found.items():
            assert len(set(batches)) == len(batches), f"several files of {source} at once"


OFTEN_RESTORED = ("distinct_on",)
RESTORED = [
    pytest.param(folder, id=folder.name, marks=[] if folder.name in OFTEN_RESTORED else LONG)
    for folder in cases("run")
]


@pytest.mark.parametrize("folder", RESTORED)
def test_run_from_savepoints(folder: Path, tmp_path: Path, spark: SparkSession) -> None:
    case = read_case(folder)
    bench = Bench(case, tmp_path, spark)
    bench.run_from_savepoints()
    got, right = bench.rows(), case.right["restarted"]
    for sink, keys in case.keys.items():
        if not (folder / "rows.restarted.yaml").exists():
            got[sink] = last_of_each(got[sink], keys)
    assert {name: comparable(rows) for name, rows in got.items()} == {
        name: comparable(rows) for name, rows in right.items()
    }


# Rows that do not fit the declaration of their source.


def run_strict(spark: SparkSession, root: Path, orders: str = "", lines: str = "") -> Result:
    result = compiled(STRICT, STRICT.name)
    assert result.script is not None and result.plan_json is not None
    script = root / "strict.py"
    script.write_text(result.script, encoding="utf-8")
    script.with_suffix(".plan.json").write_text(result.plan_json, encoding="utf-8")
    write_strict(root, orders, lines)
    asked = Arguments(until_caught_up=True, variables={"in": str(root)}, state=str(root / "state"))
    return run_script(script, asked, spark=spark)


def write_strict(root: Path, orders: str, lines: str) -> None:
    for name, text in {"orders/1.json": orders, "lines/1.csv": lines}.items():
        (root / name).parent.mkdir()
        if text:
            (root / name).write_text(text, encoding="utf-8")


GOOD = '{"id": 1, "n": 6, "ts": "2026-01-01T10:00:00Z"}\n'


BAD_ROWS = [
    ('{"n": 1, "ts": "2026-01-01T10:00:00Z"}', "", "hours", "NULL in `id`, which is NOT NULL"),
    ('{"id": null, "n": 9}', "", "hours", "source `orders` has a malformed row: NULL in `id`"),
    ('{"id": 2, "n": 1', "", "hours", "1.json"),
    ('{"id": 2, "n": "many"}', "", "hours", '`n` is "many", which is not a valid '),
    ('{"id": 2, "n": 1, "ts": "noon"}', "", "hours", "1.json:2"),
    ('{"id": 2, "n": 1} {"id": 3}', "", "hours", "a second value follows the first"),
    ('[{"id": 2, "n": 1}]', "", "hours", "an array where one object is expected"),
    ('{"id": 2, "unread": 99999}', "", "hours", "`unread` is 99999, which does not fit"),
    ("", "id,n\n1,2\n3,x\n", "lines", '`n` is "x", which is not a valid '),
    ("", "id,n\n1,2\n3,4,5\n", "lines", "3 fields where 2 are expected"),
    ("", "id,other\n1,2\n", "lines", "the header of the file is `id,other`"),
]
OFTEN_BAD = (0, 2, 4, 9, 10)


@pytest.mark.parametrize(
    ("orders", "lines", "query", "said"),
    [pytest.param(*row, marks=[] if n in OFTEN_BAD else LONG) for n, row in enumerate(BAD_ROWS)],
)
def test_a_bad_row_fails_its_query(
    orders: str, lines: str, query: str, said: str, tmp_path: Path, spark: SparkSession
) -> None:
    result = run_strict(spark, tmp_path, orders and GOOD + orders, lines)
    assert result.exit_code == 1
    (failure,) = result.failures
    text = failure.render()
    assert text.startswith(f"error[SR0501] query-failed: query `{query}` failed: ")
    assert said in text
    assert len(text.splitlines()) <= 5 and "Exception" not in text.splitlines()[0]


DIVIDE = """---
variables: {in: null}
---
CREATE SOURCE orders (id INT, n INT)
  WITH (connector = 'files', path = '${in}/orders', format = 'json');
CREATE STREAM shares AS SELECT id, 100 / n AS share FROM orders;
CREATE SINK kept FROM shares WITH (connector = 'files', path = '${in}/out', format = 'json');
CREATE SINK shown FROM shares WITH (connector = 'console');
"""


def test_a_failed_query_ends_the_command_with_one(tmp_path: Path) -> None:
    """In a few lines: neither Python nor Spark says at length what the run says in short."""
    write_strict(tmp_path, '{"id": 1, "n": 4}\n{"id": 2, "n": 0}\n', "")
    (tmp_path / "divide.stream").write_text(DIVIDE, encoding="utf-8")
    main = "from streamc.cli.app import main; main()"
    command = [sys.executable, "-c", main, "run", "divide.stream", "--until-caught-up"]
    done = subprocess.run(
        [*command, "--var", f"in={tmp_path}", "--state", "state"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    said = done.stderr.partition("error[SR0501] query-failed: ")[2].splitlines()
    assert said[0].startswith("query `shares` failed: Division by zero.")
    assert [line.strip() for line in said[1:3]] == [
        "in `100 / n`",
        f"at file://{tmp_path}/orders/1.json:2, where `n` is 0",
    ]
    for noise in ("Traceback", "Logger", "py4j", "sql.ansi"):
        assert noise not in done.stdout + done.stderr
    assert max(map(len, done.stderr.splitlines())) < 400


AVRO = """
CREATE SOURCE events (id BIGINT)
  WITH (connector = 'files', path = '${in}', format = 'avro', spark.pathGlobFilter = '*.avro');
CREATE SINK screen FROM events WITH (connector = 'console');
"""


def test_a_running_spark_must_have_the_part_for_avro(tmp_path: Path, spark: SparkSession) -> None:
    result = compiled_text(f"---\nvariables: {{in: null}}\n---\n{AVRO}", "events.stream")
    script = written(result, tmp_path)
    asked = Arguments(variables={"in": str(tmp_path)}, state=str(tmp_path / "state"))
    with pytest.raises(RuntimeFault) as raised:
        run_script(script, asked, spark=spark)
    assert raised.value.code.slug == "package-missing"
    assert "spark-avro" in raised.value.render()
