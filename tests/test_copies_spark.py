"""Copies of a state and its outputs: none loses a file to another, or is truncated too soon."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from guarded import restore as put_back
from streamc.cli.app import app
from streamc.runtime import Arguments, RuntimeFault, run_script
from streamc.runtime.plan.arguments import ADOPT
from streamc.runtime.savepoints.process import take_savepoint
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SPEC = """
---
variables: {in: null, big: null, all: null}
---
CREATE SOURCE numbers (n BIGINT) WITH (connector = 'files', path = '${in}', format = 'json');
CREATE STREAM bigger AS SELECT n FROM numbers WHERE n >= 10;
CREATE SINK big FROM bigger WITH (connector = 'files', path = '${big}', format = 'json');
CREATE SINK every FROM numbers WITH (connector = 'files', path = '${all}', format = 'json');
CHECKPOINT EVERY INTERVAL 1 HOUR RETAIN 5;
""".lstrip()


class Job:
    """A pipeline of two sinks in a folder of its own."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root = root
        self.spark = spark
        (root / "in").mkdir(parents=True)
        self.script = written(compiled_text(SPEC, "copies.stream"), root)
        self.steps = 0

    def feed(self) -> None:
        """A file with one small number and one big one."""
        self.steps += 1
        path = self.root / f"in/{self.steps}.json"
        rows = [{"n": self.steps}, {"n": 10 + self.steps}]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        os.utime(path, (1_700_000_000 + self.steps,) * 2)

    def run(self, state: str = "state", copied: str | None = None, **outputs: str) -> None:
        """Runs until all is read; outputs are folders of the job."""
        folders = {"in": "in", "big": "big", "all": "all", **outputs}
        variables = {name: str(self.root / folder) for name, folder in folders.items()}
        asked = Arguments(True, variables, state=str(self.root / state), copied=copied)
        result = run_script(self.script, asked, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def refused(self, state: str = "state", copied: str | None = None, **outputs: str) -> str:
        """The code of the fault that ends a run, which changes no output."""
        before = self.files("big") | self.files("all")
        with pytest.raises(RuntimeFault) as caught:
            self.run(state, copied, **outputs)
        assert before == self.files("big") | self.files("all")
        return caught.value.code.number

    def back(self, state: str, *options: str) -> str:
        """Rolls back to the first barrier; returns the fault's code, or nothing."""
        where = ["--state", str(self.root / state)]
        found = CliRunner().invoke(app, ["rollback", *where, "--to", "1", "--yes", *options])
        assert found.exit_code in (0, 2), found.output
        return found.stderr.partition("[")[2].partition("]")[0]

    def copy(self, name: str) -> None:
        shutil.copytree(self.root / "state", self.root / name, copy_function=shutil.copy2)

    def files(self, folder: str) -> dict[Path, bytes]:
        found = (self.root / folder).rglob("*")
        return {p: p.read_bytes() for p in found if p.is_file() and p.name != "output.json"}

    def rows(self, folder: str) -> list[int]:
        files = (self.root / folder).glob("*.json")
        return sorted(
            json.loads(line)["n"]
            for file in files
            for line in file.read_text(encoding="utf-8").splitlines()
        )


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job after two runs, each with a barrier; `kept` is a copy of it."""
    found = Job(tmp_path_factory.mktemp("copies") / "job", spark)
    for _ in range(2):
        found.feed()
        found.run()
    assert (found.rows("all"), found.rows("big")) == ([1, 2, 11, 12], [11, 12])
    shutil.copytree(found.root, found.root.with_name("kept"), copy_function=shutil.copy2)
    return found


@pytest.fixture
def job(made: Job) -> Job:
    """The job as it was made."""
    put_back(made.root.with_name("kept"), made.root)
    made.steps = 2
    return made


def test_a_copy_that_is_rolled_back_takes_nothing_from_the_original(job: Job) -> None:
    job.copy("copy")
    before = job.files("all") | job.files("big")
    assert job.back("copy") == "SR0415"
    assert job.refused("copy", big="b2", all="a2") == "SR0415"
    assert job.back("copy", "--as-copy") == ""
    assert job.refused("copy") == "SR0303"
    assert job.refused("copy", big="b2") == "SR0303", "of two outputs one is the original's"
    job.run("copy", big="b2", all="a2")
    assert before == job.files("all") | job.files("big")
    assert (job.rows("a2"), job.rows("b2")) == ([2, 12], [12])
    job.feed()
    job.run()
    job.run("copy", big="b2", all="a2")
    assert (job.rows("all"), job.rows("a2")) == ([1, 2, 3, 11, 12, 13], [2, 3, 12, 13])
    assert job.back("copy") == ""
    job.run("copy", big="b3", all="a3")
    assert (job.rows("all"), job.rows("a2")) == ([1, 2, 3, 11, 12, 13], [])
    assert job.refused("state", big="b3") == "SR0303", "the copy's outputs are not the original's"


def test_of_two_copies_one_has_the_outputs(job: Job) -> None:
    job.copy("copy")
    shutil.copytree(job.root / "state", job.root / "backup", copy_function=shutil.copy2)
    job.run("copy", ADOPT)
    assert job.refused() == "SR0415", "what was copied is the copy now"
    shutil.rmtree(job.root / "copy")
    (job.root / "backup").rename(job.root / "other")
    shutil.rmtree(job.root / "state")
    shutil.copytree(job.root / "other", job.root / "state", copy_function=shutil.copy2)
    assert job.refused() == "SR0332", "put back in its place, and another copy has run since"
    job.feed()
    job.run(copied=ADOPT)
    assert job.rows("all") == [1, 2, 3, 11, 12, 13]
    (job.root / "state").rename(job.root / "moved")
    job.feed()
    job.run("moved")
    assert job.rows("big") == [11, 12, 13, 14]


def test_nothing_is_cut_before_all_sinks_have_opened(job: Job) -> None:
    before = job.files("all") | job.files("big")
    assert job.back("state") == ""
    other = Job(job.root / "other", job.spark)
    other.feed()
    other.run()
    assert job.refused(all="other/all") == "SR0303"
    assert job.refused(big="b2", all="other/all") == "SR0303"
    (job.root / "hidden").mkdir()
    (job.root / "all").rename(job.root / "hidden/all")
    with pytest.raises(RuntimeFault) as caught:
        job.run()
    assert caught.value.code.number == "SR0304"
    (job.root / "hidden/all").rename(job.root / "all")
    assert before == job.files("all") | job.files("big")
    job.run()
    assert (job.rows("all"), job.rows("big")) == ([1, 2, 11, 12], [11, 12])
    assert len(list((job.root / "big").glob("big-0001-*"))) == 1, "and then it is cut"


def test_a_state_that_was_copied_with_its_outputs(job: Job) -> None:
    twin = Job(job.root.with_name("twin"), job.spark)
    # Spark knows the files that it has read by their paths.
    source = str(job.root / "in")
    for folder in ("state", "all", "big"):
        shutil.copytree(job.root / folder, twin.root / folder, copy_function=shutil.copy2)
    before = job.files("all") | job.files("big")
    assert twin.refused(**{"in": source}) == "SR0415"
    assert twin.back("state", "--as-copy") == ""
    twin.run(**{"in": source})
    assert before == job.files("all") | job.files("big")
    assert len(list((twin.root / "big").glob("big-0001-*"))) == 1
    assert twin.refused(**{"in": source, "big": str(job.root / "big")}) == "SR0303"
    job.feed()
    job.run()
    assert job.rows("all") == [1, 2, 3, 11, 12, 13]


def test_a_state_is_private_and_an_output_is_not(job: Job) -> None:
    """Also what Spark writes: checkpoints, stores, savepoints."""
    take_savepoint(str(job.root / "state"), name="one", spark=job.spark)
    before = os.umask(0o022)
    try:
        job.feed()
        job.run()
    finally:
        os.umask(before)
    state = job.root / "state"
    found = [p for p in (state, *state.rglob("*")) if stat.S_IMODE(p.stat().st_mode) & 0o077]
    assert found == []
    assert len([p for p in state.rglob("*") if p.is_file()]) > 30
    outputs = [p for p in (job.root / "all").glob("*.json") if "-000000002-" in p.name]
    assert {stat.S_IMODE(p.stat().st_mode) for p in outputs} == {0o644}
    assert stat.S_IMODE((job.root / "all").stat().st_mode) == 0o755
