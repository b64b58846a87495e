"""Kills at every step of creating or restoring a savepoint: nothing old has changed."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled, written
from disk_steps import DiskSteps, Killed
from guarded import restore as put_back
from streamc.cli.app import app
from streamc.runtime import Arguments, run_script
from streamc.runtime.savepoints.process import savepoints_of, take_savepoint
from streamc.runtime.savepoints.restore import begin
from streamc.runtime.storage.disk import LocalDisk
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long
CASE = Path(__file__).parent / "savepoints" / "killed"
T0 = datetime(2026, 1, 1)
DELAY = 10
"""How long the watermark waits, in seconds."""

Click = tuple[str, str, int]
Rows = dict[str, Counter[tuple[Any, ...]]]


def clicks(step: int) -> list[Click]:
    """The clicks of a step, after all of the step before: user, page, second."""
    chance = random.Random(step)
    seconds = range(step * 80, step * 80 + 70, 5)
    rows = [(chance.choice("ab"), chance.choice("xyz"), second) for second in seconds]
    return [*rows, *rows[:4]]


def expected(steps: int) -> Rows:
    """What the spec gives for that many steps, by hand; what has not closed is not there yet."""
    rows = [click for step in range(steps) for click in clicks(step)]
    closed = max(second for _, _, second in rows) - DELAY
    minutes = Counter((user, second // 60) for user, _, second in set(rows))
    seen: dict[str, list[str]] = {}
    counts: Counter[tuple[Any, ...]] = Counter()
    for user, page, second in sorted(rows, key=lambda row: row[2]):
        if second <= closed:
            seen.setdefault(user, []).append(page)
            counts[user, len(seen[user]), len(set(seen[user])), second] += 1
    whole = {(*key, n): 1 for key, n in minutes.items() if (key[1] + 1) * 60 <= closed}
    return {"minutes": Counter(whole), "counts": counts}


class Visits:
    """The pipeline, in a folder that can be put back to what it was."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root, self.spark = root, spark
        (root / "in").mkdir(parents=True)
        (root / "build").mkdir()
        self.script = written(compiled(CASE / "spec.stream", "visits.stream"), root / "build")

    @property
    def state(self) -> Path:
        return self.root / "state"

    def feed(self, step: int) -> None:
        lines = [
            {"user_id": user, "page": page, "ts": _instant(second)}
            for user, page, second in clicks(step)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.root / "in" / f"{step}.json").write_text(text, encoding="utf-8")

    def run(self, savepoint: str | None = None, profile: str | None = None) -> None:
        variables = {"input": str(self.root / "in"), "out": str(self.root / "out")}
        arguments = Arguments(True, variables, profile, str(self.state), savepoint)
        result = run_script(self.script, arguments, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def take(self, name: str | None = None) -> str:
        return take_savepoint(str(self.state), name=name, spark=self.spark).name

    def rows(self) -> Rows:
        """The rows of both sinks, as a plain reader finds them."""
        minutes = [(r["user_id"], _second(r["window_start"]) // 60, r["n"]) for r in self._of(0)]
        counts = [(r["user_id"], r["n"], r["pages"], _second(r["ts"])) for r in self._of(1)]
        return {"minutes": Counter(minutes), "counts": Counter(counts)}

    def _of(self, sink: int) -> list[dict[str, Any]]:
        files = sorted((self.root / "out" / ("minutes", "counts")[sink]).glob("*.json"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def sums(self) -> dict[str, Any]:
        """Every file that a kill must leave alone, and what is in it."""
        disk, found = LocalDisk(), {}
        for folder in ("generations/0001", "savepoints/old", "state.json"):
            place = self.state / folder
            paths = disk.tree(str(place)) or [""]
            found.update(disk.sums(str(place / path) for path in paths))
        for file in (self.root / "out").rglob("*"):
            if file.is_file():
                found.update(disk.sums([str(file)]))
        return found

    def assert_untouched(self, before: dict[str, Any], step: str) -> None:
        assert self.sums() == before, step
        listed = CliRunner().invoke(app, ["savepoint", "list", "--state", str(self.state)])
        lines = listed.stdout.splitlines()[1:]
        assert [line.split()[0] for line in lines] == ["old"], step
        assert _numbers(self.state / "generations") == ["0001"], step

    def take_away_half_made(self) -> None:
        for folder in self.state.glob("savepoints/.*"):
            shutil.rmtree(folder)

    def assert_nothing_half_made(self) -> None:
        hidden = [p.name for p in self.state.glob("*/.*")]
        assert hidden == []


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Visits:
    """A job after three steps, with a savepoint after the second; `kept` is a copy of it."""
    job = Visits(tmp_path_factory.mktemp("visits") / "job", spark)
    for step in range(3):
        job.feed(step)
        job.run()
        if step == 1:
            job.take("old")
    assert job.rows() == expected(3)
    shutil.copytree(job.root, job.root.with_name("kept"), copy_function=shutil.copy2)
    return job


@pytest.fixture
def job(made: Visits) -> Visits:
    """The job as it was made."""
    put_back(made.root.with_name("kept"), made.root)
    return made


@pytest.fixture
def steps(job: Visits, monkeypatch: pytest.MonkeyPatch) -> DiskSteps:
    """The steps of `create_savepoint` and of `restore`: only these are watched."""
    return DiskSteps(monkeypatch, job.state)


@pytest.fixture
def restoring(monkeypatch: pytest.MonkeyPatch, steps: DiskSteps, job: Visits) -> Restoring:
    return Restoring(monkeypatch, steps, job)


class Restoring:
    """A run that begins with `old` and ends with it, or is killed in it at one of its steps."""

    def __init__(self, patch: pytest.MonkeyPatch, steps: DiskSteps, job: Visits) -> None:
        self._patch, self._steps, self._job = patch, steps, job
        self._restore = begin.restore

    def until(self, dies_at: int | str | None) -> None:
        def restore(spark: Any, kernel: Any, *arguments: Any) -> None:
            # The lease that is given back behind it is that of the test's own process.
            with self._steps.watched(dies_at):
                self._restore(spark, self._steps.kernel(kernel), *arguments)
            raise Killed

        with self._patch.context() as patch:
            patch.setattr(begin, "restore", restore)
            with pytest.raises(Killed):
                self._job.run("old", profile="wider")
        assert self._steps.dead == (dies_at is not None)


def some(steps: Sequence[str], every: int) -> list[tuple[int, str]]:
    """Steps with their numbers, the last ones among them: there what was made begins to count."""
    numbered = list(enumerate(steps))
    return numbered[:-2:every] + numbered[-2:]


EVERY = pytest.mark.parametrize("every", [24, pytest.param(1, marks=LONG)])
"""`make test` kills at each 24th of the steps, `make test-long` at each."""


@EVERY
@pytest.mark.parametrize("case", [CASE], ids=["killed"])
def test_create_at_every_step(
    case: Path, every: int, job: Visits, steps: DiskSteps, golden: Callable[[str, str], None]
) -> None:
    before = job.sums()
    with steps.watched():
        job.take("new")
    found = steps.steps
    golden("create.txt", _text(found))
    shutil.rmtree(job.state / "savepoints/new")
    for number, step in some(found, every):
        with steps.watched(number), pytest.raises(Killed):
            job.take("new")
        assert steps.steps == found[: number + 1]
        job.assert_untouched(before, step)
        if number < len(found) - 1:
            job.take_away_half_made()
    # What the last one has left is removed first, and that may be interrupted too.
    with steps.watched(0), pytest.raises(Killed):
        job.take("new")
    assert steps.steps == ["delete savepoints/.new.*.tmp"]
    job.assert_untouched(before, "sweep")
    job.take("other")
    assert [one.name for one in savepoints_of(str(job.state))[0]] == ["old", "other"]
    job.assert_nothing_half_made()


@EVERY
@pytest.mark.parametrize("case", [CASE], ids=["killed"])
def test_restore_at_every_step(
    case: Path,
    every: int,
    job: Visits,
    steps: DiskSteps,
    restoring: Restoring,
    golden: Callable[[str, str], None],
) -> None:
    before = job.sums()
    restoring.until(None)
    found = steps.steps
    golden("restore.txt", _text(found))
    put_back(job.root.with_name("kept"), job.root)
    for number, step in some(found, every):
        restoring.until(number)
        assert steps.steps == found[: number + 1]
        job.assert_untouched(before, step)
    job.feed(3)
    job.run("old")
    assert job.rows() == expected(4)
    job.assert_nothing_half_made()


@pytest.mark.parametrize(
    "step",
    [
        *(pytest.param(step, marks=LONG) for step in ("first batch counts", "rename")),
        pytest.param("state queries/minutes", marks=LONG),
        pytest.param("write queries/counts/commits/0", marks=LONG),
    ],
)
def test_what_follows_a_kill_in_a_restore(job: Visits, restoring: Restoring, step: str) -> None:
    """The job continues unchanged; and after another kill, the savepoint is restored."""
    restoring.until(step)
    job.feed(3)
    job.run()
    assert job.rows() == expected(4)
    job.assert_nothing_half_made()
    restoring.until(step)
    job.feed(4)
    job.run("old", profile="wider")
    assert job.rows() == expected(5)
    job.assert_nothing_half_made()


@LONG
def test_a_restore_counts_from_its_last_step_on(job: Visits, restoring: Restoring) -> None:
    restoring.until(None)
    job.feed(3)
    job.run(profile="wider")
    assert job.rows() == expected(4)
    assert _numbers(job.state / "generations") == ["0002"]


@pytest.mark.parametrize(
    "step",
    [
        *(pytest.param(step, marks=LONG) for step in ("link", "write state/counts", "rename")),
        "create manifest.json",
    ],
)
def test_what_follows_a_kill_in_a_create(job: Visits, steps: DiskSteps, step: str) -> None:
    """The job continues unchanged, and another savepoint of the same name can be restored."""
    with steps.watched(step), pytest.raises(Killed):
        job.take("new")
    job.feed(3)
    job.run()
    assert job.rows() == expected(4)
    job.take("new")
    job.assert_nothing_half_made()
    job.feed(4)
    job.run("new")
    assert job.rows() == expected(5)


@pytest.mark.long
def test_real_processes_that_are_killed(job: Visits) -> None:
    before = job.sums()
    create = ["savepoint", "create", "--name", "new"]
    _kill(job, create, "savepoints/.new.*")
    job.assert_untouched(before, "create")
    begin_anew = ["run", str(job.script), "--until-caught-up", "--from-savepoint", "old"]
    begin_anew += [f"--var=input={job.root / 'in'}", f"--var=out={job.root / 'out'}"]
    _kill(job, begin_anew, "generations/.0002.tmp")
    job.assert_untouched(before, "restore")
    for command in (create, begin_anew):
        assert _started(job, command).wait() == 0
    assert [one.name for one in savepoints_of(str(job.state))[0]] == ["old", "new"]
    assert job.rows() == expected(3)
    job.assert_nothing_half_made()


def _kill(job: Visits, command: list[str], half_made: str) -> None:
    """Kills a command at some moment after it has begun to write."""
    process = _started(job, command)
    while not list(job.state.glob(half_made)):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(random.random())
    process.kill()
    assert process.wait() == -signal.SIGKILL


def _started(job: Visits, command: list[str]) -> subprocess.Popen[bytes]:
    whole = [sys.executable, "-m", "streamc", *command, "--state", str(job.state)]
    return subprocess.Popen(whole, cwd=job.root)


def _text(steps: list[str]) -> str:
    """The steps, without files that are there or not yet: Spark writes snapshots at its leisure."""
    return "".join(f"{step}\n" for step in steps if not step.endswith(".zip"))


def _numbers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.isdigit())


def _instant(second: int) -> str:
    return (T0 + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _second(instant: str) -> int:
    return round((datetime.fromisoformat(instant[:19]) - T0).total_seconds())
