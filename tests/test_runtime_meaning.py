"""A state is never read as if it meant something else."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from guarded import restore as put_back
from streamc.cli.app import app
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from streamc.runtime.storage.notes import seal, unseal
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """
---
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE SOURCE events (
  k STRING, v BIGINT, w BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${input}', format = 'json');
CREATE STREAM once AS SELECT DISTINCT ON (k, v) k, v, w, ts FROM events;
CREATE STREAM totals AS
  SELECT k, window_start, SUM(v) AS total FROM TUMBLE(once, ts, INTERVAL 1 MINUTE)
  GROUP BY k, window_start;
CREATE STREAM pairs AS
  SELECT a.k, a.v, b.w FROM events AS a LEFT JOIN events AS b
    ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 MINUTE;
CREATE SINK totals_out FROM totals WITH (connector = 'memory');
CREATE SINK pairs_out FROM pairs WITH (connector = 'memory');
""".replace("---\nspark", "---\npipeline: p\nvariables: {input: null}\nspark", 1).lstrip()


def run(spark: SparkSession, root: Path, spec: str) -> Result:
    script = written(compiled_text(spec, "p.stream"), root)
    arguments = Arguments(True, {"input": str(root / "in")}, None, str(root / "state"))
    return run_script(script, arguments, spark=spark)


@pytest.fixture(scope="module")
def kept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `begun` in which the spec has read one file; `kept` is a copy of it."""
    root = tmp_path_factory.mktemp("meaning")
    (root / "begun/in").mkdir(parents=True)
    row = {"k": "a", "v": 1, "w": 10, "ts": "2026-01-01T00:00:00Z"}
    (root / "begun/in/1.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run(spark, root / "begun", SPEC).exit_code == 0
    shutil.copytree(root / "begun", root / "kept", copy_function=shutil.copy2)
    return root / "kept"


@pytest.fixture
def begun(kept: Path) -> Path:
    """The folder as it was after that run."""
    put_back(kept, kept.with_name("begun"))
    return kept.with_name("begun")


CHANGES = [
    ("TUMBLE(once, ts, INTERVAL 1 MINUTE)", "TUMBLE(once, ts, INTERVAL 5 MINUTES)", "5 minutes"),
    ("SUM(v) AS total", "SUM(w) AS total", "sum(v) (BIGINT)] -> [sum(w) (BIGINT)"),
    ("SUM(v) AS total", "SUM(v) AS total, MAX(v) AS top", "max(v)"),
    ("DISTINCT ON (k, v)", "DISTINCT ON (k, w)", "w BIGINT"),
    ("- INTERVAL 1 MINUTE", "- INTERVAL 2 MINUTES", "within: 1 minute -> 2 minutes"),
    ("a.ts + INTERVAL 1 MINUTE", "a.ts + INTERVAL 2 MINUTES", "upper_micros 120000000"),
    ("LEFT JOIN", "JOIN", "join: left -> inner"),
]


@pytest.mark.long
def test_changes_of_what_the_state_means(spark: SparkSession, begun: Path) -> None:
    """Each is rejected, and leaves a state with which the old version continues."""
    for old, new, said in CHANGES:
        assert old in SPEC
        with pytest.raises(RuntimeFault) as caught:
            run(spark, begun, SPEC.replace(old, new))
        assert caught.value.code.number == "SR0405"
        assert said in caught.value.render()
    assert run(spark, begun, SPEC).exit_code == 0


def test_an_owner_that_is_named_as_it_was(spark: SparkSession, begun: Path) -> None:
    named = "CREATE STREAM totals WITH (uid = 'totals', unbounded = 'x') AS"
    assert run(spark, begun, SPEC.replace("CREATE STREAM totals AS", named)).exit_code == 0


def test_changes_that_leave_the_state_as_it_was(spark: SparkSession, begun: Path) -> None:
    renamed = SPEC.replace("SUM(v) AS total", "SUM(v) AS sum_of_v").replace("AS a ", "AS x ")
    renamed = renamed.replace("a.", "x.").replace("SELECT DISTINCT", "SELECT  DISTINCT")
    assert run(spark, begun, renamed).exit_code == 0


def test_columns_that_no_row_ever_waited_with(spark: SparkSession, begun: Path) -> None:
    """An earlier compiler named one; the note of a state that has it is another matter."""
    note = begun / "state" / "generations" / "0001" / "meaning" / "pairs.json"
    document = unseal(note.read_text("utf-8"))
    columns = document["operators"][0]["columns"]
    columns[0].insert(1, {"name": "w", "type": "BIGINT"})
    note.write_text(seal(document), encoding="utf-8")
    assert run(spark, begun, SPEC).exit_code == 0
    assert [
        one["name"] for one in unseal(note.read_text("utf-8"))["operators"][0]["columns"][0]
    ] == [
        "k",
        "v",
        "ts",
    ]
    with pytest.raises(RuntimeFault) as caught:
        run(spark, begun, SPEC.replace("SELECT a.k, a.v, b.w", "SELECT a.k, a.v"))
    assert caught.value.code.number == "SR0405" and "columns" in caught.value.message


def test_a_query_that_never_began_may_change(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    broken = SPEC.replace("'memory'", "'python', function = 'no_such_module:f'", 1)
    with pytest.raises(RuntimeFault):
        run(spark, tmp_path, broken)
    wider = SPEC.replace("TUMBLE(once, ts, INTERVAL 1 MINUTE)", "TUMBLE(once, ts, INTERVAL 1 HOUR)")
    assert run(spark, tmp_path, wider).exit_code == 0


def test_an_unreadable_note_is_reported(spark: SparkSession, begun: Path) -> None:
    note = begun / "state" / "generations" / "0001" / "meaning" / "totals.json"
    note.write_text("{", encoding="utf-8")
    with pytest.raises(RuntimeFault) as caught:
        run(spark, begun, SPEC)
    assert caught.value.code.number == "SR0410"


def told(spark: SparkSession, *words: str) -> tuple[int, str]:
    """The exit code of a command, and what it says on both of its outputs."""
    ended = CliRunner().invoke(app, words)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.output


def commands_in(text: str) -> list[list[str]]:
    """The commands that a message names, ready to be run."""
    lines = [line.strip() for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("streamc ")]


def test_the_commands_that_are_named_carry_the_state_over(
    spark: SparkSession, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(begun)
    changed = SPEC.replace("SUM(v) AS total", "SUM(v) AS total, MAX(v) AS top")
    Path("new specs").mkdir()
    Path("new specs/p.stream").write_text(changed, encoding="utf-8")
    asked = ("run", "new specs/p.stream", "--until-caught-up", "--var", f"input={begun}/in")
    state = f"{begun}/state"
    code, text = told(spark, *asked, "--state", state)
    assert code == 2 and "error[SR0405]" in text
    assert "  = help: carry the state over to this version of the spec with a savepoint:\n" in text
    create, plan, run_it = commands_in(text)
    assert create[:4] == ["savepoint", "create", "--state", state]
    assert plan[:3] == ["savepoint", "plan", "new specs/p.stream"]
    assert run_it[: len(asked)] == [asked[0], asked[1], *asked[2:]]

    assert told(spark, *create)[0] == 0
    # A maximum that is new can't be had from a sum: the plan asks, and drafts the file.
    assert told(spark, *plan, "--write", "new.yaml")[0] == 1
    code, text = told(spark, *run_it, "--migration", "new.yaml")
    assert code == 0, text


def test_a_script_names_the_spec_beside_it(spark: SparkSession, begun: Path) -> None:
    changed = SPEC.replace("INTERVAL 1 MINUTE)\n  GROUP", "INTERVAL 5 MINUTES)\n  GROUP")
    script = written(compiled_text(changed, "p.stream"), begun)
    variables = {"input": str(begun / "in"), "password": "hush"}
    arguments = Arguments(False, variables, None, str(begun / "state"), path=script)
    with pytest.raises(RuntimeFault) as caught:
        run_script(script, arguments, spark=spark)
    assert caught.value.code.number == "SR0102", "only what is declared is named"
    variables.pop("password")
    with pytest.raises(RuntimeFault) as caught:
        run_script(script, arguments, spark=spark)
    _, plan, run_it = commands_in(caught.value.render())
    assert plan[2] == str(begun / "p.spec")
    assert run_it[1] == str(script)


def test_a_state_without_a_barrier_is_to_get_one(spark: SparkSession, begun: Path) -> None:
    for barrier in (begun / "state" / "generations" / "0001" / "barriers").iterdir():
        barrier.unlink()
    with pytest.raises(RuntimeFault) as caught:
        run(spark, begun, SPEC.replace("LEFT JOIN", "JOIN"))
    assert caught.value.code.number == "SR0405"
    (stop,) = commands_in(caught.value.render())
    assert stop == ["stop", "--state", str(begun / "state")]
