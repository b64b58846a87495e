"""Input that has moved: a job starts in the other folder, and rereads no file of the first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from guarded import Told
from streamc.cli.savepoints.from_savepoint import migration_of
from streamc.runtime import Arguments, RuntimeFault, run_script
from streamc.runtime.savepoints.process import take_savepoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """
---
pipeline: p
variables: {input: null}
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE SOURCE events (k STRING, v BIGINT)
  WITH (connector = 'files', path = '${input}', format = 'json');
CREATE STREAM totals WITH (unbounded = 'few keys') AS
  SELECT k, SUM(v) AS total FROM events GROUP BY k EMIT CHANGES;
CREATE SINK totals_out FROM totals WITH (connector = 'memory');
""".lstrip()


class Moving:
    """The spec above in a folder, and where it reads."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.script = written(compiled_text(SPEC, "p.stream"), root)
        self.state = "state"
        self.notes: list[str] = []

    def arrive(self, folder: str, name: str, value: int) -> None:
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"k": "a", "v": value}) + "\n", encoding="utf-8")

    def run(self, read: str, **more: str) -> int:
        """The total after all that is in a folder."""
        view = Told()
        variables = {"input": str(self.root / read)}
        migration = None
        if "savepoint" in more:
            state = str(self.root / self.state)
            migration = migration_of(self.script, state, None, more["savepoint"], None)
        arguments = Arguments(
            True, variables, None, str(self.root / self.state), migration=migration, **more
        )
        result = run_script(self.script, arguments, spark=self.spark, view=view)
        self.notes = view.lines
        assert result.exit_code == 0, result.failures
        return max((row["total"] for row in result.rows["totals_out"]), default=0)

    def generations(self) -> list[str]:
        folder = self.root / self.state / "generations"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
def moving(spark: SparkSession, tmp_path: Path) -> Moving:
    """A job that has read two files, `größe 1.json` and `2.json`, of 1 and 2."""
    found = Moving(spark, tmp_path)
    found.arrive("in", "größe 1.json", 1)
    found.arrive("in", "2.json", 2)
    assert found.run("in") == 3
    return found


@pytest.mark.parametrize("read", ["there", "gr*r = ?in?"])
def test_it_continues_where_new_files_are(moving: Moving, read: str) -> None:
    moving.arrive("there", "3.json", 4)
    moving.arrive("größer = [in]", "3.json", 4)
    assert moving.run(read) == 7
    (note,) = moving.notes
    assert note.startswith("source `events` reads ") and note.endswith(
        f"2 files in {moving.root}/in"
    )
    moving.arrive("there", "4.json", 8)
    moving.arrive("größer = [in]", "4.json", 8)
    assert (moving.run(read), moving.notes) == (15, [])


def test_files_of_the_same_names_are_asked_about(moving: Moving) -> None:
    shutil.copytree(moving.root / "in", moving.root / "there")
    moving.arrive("there", "3.json", 4)
    for read in ("there", "the*e", "the?e/*.json"):
        with pytest.raises(RuntimeFault) as caught:
            moving.run(read)
        fault = caught.value
        assert (fault.code.number, fault.exit_code) == ("SR0306", 2)
        assert "`events` has read 2 files in " in fault.render()
        assert "where 2 files have the names of some of them, such as 2.json" in fault.render()
    (moving.root / "there" / "2.json").rename(moving.root / "there" / "2b.json")
    (moving.root / "there" / "größe 1.json").unlink()
    assert moving.run("there") == 9, "what is named otherwise is new"


def test_a_savepoint_is_not_begun_with_where_files_would_be_read_again(moving: Moving) -> None:
    take_savepoint(str(moving.root / "state"), name="cut", spark=moving.spark)
    savepoint = str(moving.root / "state" / "savepoints" / "cut")
    shutil.copytree(moving.root / "in", moving.root / "there")
    moving.state = "other"
    with pytest.raises(RuntimeFault) as caught:
        moving.run("there", savepoint=savepoint)
    assert caught.value.code.number == "SR0306"
    assert moving.generations() in ([], ["0001"]), "the state is as it was"
    shutil.rmtree(moving.root / "there")
    moving.arrive("there", "3.json", 4)
    assert moving.run("there", savepoint=savepoint) == 7
