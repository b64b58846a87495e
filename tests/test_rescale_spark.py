"""A state goes on in other partitions: an aggregate, a join and a program with timers.

The right rows are computed here, from all clicks and views at once.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled, written
from disk_steps import DiskSteps, Killed
from guarded import restore as put_back
from json_outputs import output
from streamc.cli.app import app
from streamc.runtime import Arguments, run_script
from streamc.runtime.execution import rescale as rescaling
from streamc.runtime.savepoints.restore import begin
from streamc.runtime.state.history import read_barriers
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LONG = pytest.mark.long
SPEC = Path(__file__).parent / "savepoints" / "rescaled.stream"
T0 = datetime(2026, 1, 1)
USERS = "abcdef"
STEP = 80
"""The seconds from one step to the next; none of a step's rows is late."""
DELAY, REST, NEAR = 10, 93, 120

Rows = dict[str, Counter[tuple[Any, ...]]]
Click = tuple[int, str, str]


def clicks(step: int) -> list[Click]:
    """The clicks of a step: second, user, page; no user clicks twice in a second."""
    chance = random.Random(step)
    return [
        (second, chance.choice(USERS), chance.choice("xyz"))
        for second in range(step * STEP, step * STEP + 70, 5)
    ]


def views(step: int) -> list[tuple[int, str]]:
    """The views of a step: second and user."""
    chance = random.Random(-step - 1)
    return [(second, chance.choice(USERS)) for second in range(step * STEP, step * STEP + 70, 10)]


def expected(steps: int) -> Rows:
    """What the spec gives for that many steps; what has not closed is not there yet."""
    all_clicks = sorted(click for step in range(steps) for click in clicks(step))
    all_views = [view for step in range(steps) for view in views(step)]
    closed = all_clicks[-1][0] - DELAY
    minutes: dict[tuple[str, int], list[str]] = {}
    for second, user, page in all_clicks:
        minutes.setdefault((user, second // 60), []).append(page)
    seen = [
        (user, page, second, at)
        for second, user, page in all_clicks
        for at, viewer in all_views
        if user == viewer and second <= at <= second + NEAR
    ]
    return {
        "minutes": Counter(
            (user, minute, len(pages), max(pages))
            for (user, minute), pages in minutes.items()
            if (minute + 1) * 60 <= closed
        ),
        "seen": Counter(seen),
        "rests": Counter(one for user in USERS for one in _rests(user, all_clicks, closed)),
    }


def _rests(user: str, all_clicks: list[Click], closed: int) -> Iterator[tuple[str, int, int]]:
    """The clicks from a first one until its timer, of those that are due."""
    n, due = 0, -1
    for second in (*(s for s, who, _ in all_clicks if who == user and s <= closed), closed):
        if n and second > due:
            yield user, n, due
            n = 0
        n, due = n + 1, due if n else second + REST


class Job:
    """The pipeline, in a folder that can be put back to what it was."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.root, self.spark = root, spark
        for source in ("clicks", "views"):
            (root / "in" / source).mkdir(parents=True)
        (root / "build").mkdir()
        self.script = written(compiled(SPEC, "rescaled.stream"), root / "build")

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def variables(self) -> dict[str, str]:
        return {"input": str(self.root / "in"), "out": str(self.root / "out")}

    def step(self, number: int) -> None:
        """Feeds a step, and runs until it is done."""
        lines = [{"user_id": u, "page": p, "ts": _instant(s)} for s, u, p in clicks(number)]
        self._write("clicks", number, lines)
        self._write(
            "views", number, [{"user_id": u, "seen_at": _instant(s)} for s, u in views(number)]
        )
        self.run()

    def run(self) -> None:
        arguments = Arguments(True, self.variables, None, str(self.state))
        result = run_script(self.script, arguments, spark=self.spark)
        assert result.exit_code == 0, result.failures

    def rescale(self, partitions: int, *options: str) -> Any:
        """What the command says about a rescaling, by its schema."""
        given = [f"--var={name}={value}" for name, value in self.variables.items()]
        where = [str(self.script), "--state", str(self.state), "--partitions", str(partitions)]
        done = CliRunner().invoke(
            app, ["rescale", *where, *given, *options, "--format", "json", "--yes"]
        )
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return output(done.stdout)

    def rollback(self, barrier: int) -> None:
        options = ["--state", str(self.state), "--to", str(barrier), "--yes"]
        done = CliRunner().invoke(app, ["rollback", *options])
        assert done.exit_code == 0, done.output

    def rows(self) -> Rows:
        """The rows of the sinks, as a plain reader finds them."""
        return {
            "minutes": Counter(
                (r["user_id"], _second(r["window_start"]) // 60, r["n"], r["top"])
                for r in self._of("minutes")
            ),
            "seen": Counter(
                (r["user_id"], r["page"], _second(r["ts"]), _second(r["seen_at"]))
                for r in self._of("seen")
            ),
            "rests": Counter((r["user_id"], r["n"], _second(r["at"])) for r in self._of("rests")),
        }

    def stores(self) -> set[str]:
        """The folders of the stores of the first operators of the current generation."""
        newest = max((self.state / "generations").glob("[0-9]*"))
        return {path.name for path in newest.glob("queries/*/state/0/*") if path.name.isdigit()}

    def newest(self) -> int:
        return read_barriers(str(self.state))[-1].barrier

    def _of(self, sink: str) -> list[dict[str, Any]]:
        files = sorted((self.root / "out" / sink).glob("*.json"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def _write(self, source: str, number: int, lines: list[dict[str, str]]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.root / "in" / source / f"{number}.json").write_text(text, encoding="utf-8")


class Killing:
    """Rescalings that end at a step of their savepoint, or of its restore."""

    def __init__(self, patch: pytest.MonkeyPatch, job: Job) -> None:
        self._patch, self._job = patch, job
        self.steps = DiskSteps(patch, job.state)

    def at(self, phase: str, dies_at: int | str | None) -> list[str]:
        """The steps of a phase up to the one it died at; after the last one for None."""
        create, restore = rescaling.create_savepoint, begin.restore
        found: list[str] = []

        def part(of: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            if of != phase:
                return call(*arguments, **named)
            # The lease that is given back behind it is that of the test's own process.
            with self.steps.watched(dies_at):
                try:
                    call(*arguments, **named)
                finally:
                    found.extend(self.steps.steps)
            raise Killed

        def restored(spark: Any, kernel: Any, *arguments: Any) -> Any:
            return part("restore", restore, spark, self.steps.kernel(kernel), *arguments)

        def created(*arguments: Any, **named: Any) -> Any:
            return part("create", create, *arguments, **named)

        with self._patch.context() as patch:
            patch.setattr(rescaling, "create_savepoint", created)
            patch.setattr(begin, "restore", restored)
            with pytest.raises(Killed):
                self._job.rescale(3)
        assert self.steps.dead == (dies_at is not None)
        return found


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job after a step; `kept` is a copy of it."""
    job = Job(tmp_path_factory.mktemp("rescaled") / "job", spark)
    job.step(0)
    shutil.copytree(job.root, job.root.with_name("kept"), copy_function=shutil.copy2)
    return job


@pytest.fixture
def job(made: Job) -> Job:
    """The job as it was made."""
    put_back(made.root.with_name("kept"), made.root)
    return made


def test_a_killed_rescaling_is_done_by_the_next(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    before = job.newest()
    Killing(monkeypatch, job).at("restore", "first batch rests")
    assert [path.name for path in (job.state / "generations").glob("[0-9]*")] == ["0001"]
    done = job.rescale(3)
    assert (done["before"], done["after"], done["again"]) == (2, 3, 0)
    assert (done["generation"], done["savepoint"]) == ("0002", f"before-rescale-{before}")
    assert len(list((job.state / "savepoints").iterdir())) == 1, "what was there is used"
    assert {one["id"] for one in done["operators"]} >= {"minutes", "rests"}
    assert done["seconds"] is None
    assert job.stores() == {"0", "1", "2"}
    job.step(1)
    assert job.rows() == expected(2)
    assert {one.partitions for one in _newest_operators(job)} == {3}


@LONG
def test_more_and_fewer_partitions(job: Job, tmp_path: Path, spark: SparkSession) -> None:
    other = Job(tmp_path / "other", spark)
    other.step(0)
    for step, partitions in ((1, 5), (2, 3), (3, 1)):
        foreseen = job.rescale(partitions, "--dry-run")
        done = job.rescale(partitions)
        assert foreseen["generation"] is None
        assert (foreseen["seconds"] is None) == (step == 1), "known from the second time on"
        assert {**foreseen, "generation": 0, "savepoint": 0} == {
            **done,
            "generation": 0,
            "savepoint": 0,
        }
        job.step(step)
        other.step(step)
        assert job.rows() == other.rows() == expected(step + 1)
        assert {one.partitions for one in _newest_operators(job)} == {partitions}
        assert job.stores() == set(map(str, range(partitions)))
    kept = [{one.id: one.rows for one in _newest_operators(it)} for it in (job, other)]
    assert kept[0] == kept[1]


@LONG
@pytest.mark.parametrize("started", [False, True], ids=["at once", "after a failed start"])
def test_a_rollback_goes_back(job: Job, monkeypatch: pytest.MonkeyPatch, started: bool) -> None:
    before = job.newest()
    job.rescale(3)
    listed = {one.barrier: one.problem for one in read_barriers(str(job.state))}
    assert listed[before] is None
    if started:
        # Its rows are out, without a barrier.
        monkeypatch.setattr(
            "streamc.runtime.barriers.coordinator.Coordinator.finish", lambda self, stopping: None
        )
        job.step(1)
        monkeypatch.undo()
        assert job.rows() == expected(2)
    job.rollback(before)
    job.step(1)
    assert job.rows() == expected(2)
    assert {one.partitions for one in _newest_operators(job)} == {2}
    job.step(2)
    assert job.rows() == expected(3)
    # With a barrier of its own, the savepoint is what is left of the generation before.
    job.rescale(3)
    job.step(3)
    assert len(list((job.state / "generations").iterdir())) == 1
    assert job.rows() == expected(4)


@LONG
@pytest.mark.parametrize("phase", ["create", "restore"])
def test_a_kill_at_every_step(job: Job, monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    killing = Killing(monkeypatch, job)
    steps = killing.at(phase, None)
    assert len(steps) > 10
    for number, step in enumerate(steps):
        put_back(job.root.with_name("kept"), job.root)
        killing.at(phase, number)
        numbers = [path.name for path in (job.state / "generations").glob("[0-9]*")]
        assert numbers == ["0001"], step
        assert job.rows() == expected(1), step
        if number % 12 and number < len(steps) - 2:
            continue
        if number % 24:
            # The job continues as if nothing had been tried.
            job.step(1)
            assert job.rows() == expected(2), step
        assert job.rescale(3)["generation"] == "0002", step
        job.step(2 if number % 24 else 1)
        assert job.rows() == expected(3 if number % 24 else 2), step


@LONG
def test_a_kill_after_the_rename_leaves_the_new_one(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*given: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(rescaling, "write_note", gone)
        with pytest.raises(Killed):
            job.rescale(3)
    job.step(1)
    assert job.rows() == expected(2)
    assert job.stores() == {"0", "1", "2"}


def _newest_operators(job: Job) -> tuple[Any, ...]:
    newest = read_barriers(str(job.state))[-1].manifest
    assert newest is not None
    return newest.operators


def _instant(second: int) -> str:
    return (T0 + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _second(instant: str) -> int:
    return round((datetime.fromisoformat(instant[:19]) - T0).total_seconds())
