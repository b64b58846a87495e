"""An endless stream of small files: no job stalls, and no row is lost or duplicated.

`benchmarks/soak.py` does the same for longer, and looks at what grows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from soaking import pipeline, report, sinks
from soaking.inputs import Feeder
from soaking.pipeline import PIPELINES, Policy
from soaking.positions import Positions
from soaking.soak import Soak, Watch, Wish
from streamc.contracts.plan import Checkpoint
from streamc.runtime import Arguments, run_script, stop_pipeline
from streamc.runtime.plan.settings import RunSettings
from streamc.runtime.spark.session import run_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE = 240
FEEDING = 10
EPOCHS, AHEAD = 6, 30
"""Files come for so many seconds, on a slow machine longer: until there were so many epochs.

No more files than AHEAD are written that a job has not read."""

POLICIES = (
    # The job requests a barrier all the time; or the gate does, since epochs open so fast.
    (PIPELINES["small"], Policy(0.3, retain=1, in_flight=3)),
    (("events", "copy"), Policy(1, retain=3)),
    (("events", "once", "windows"), Policy(trigger=0.5)),
)


class Running:
    """One job in a thread of this process, fed by another."""

    def __init__(self, root: Path, number: int, spark: SparkSession) -> None:
        self.root = root / str(number)
        self.parts, policy = POLICIES[number]
        self.feeder = Feeder(
            self.root / "in", seed=number, interval=0.1, rows=40, goes_on=self._keeps_up
        )
        self.feeder.add()
        script = written(compiled_text(pipeline.spec(self.parts, policy), "soak"), self.root)
        variables = dict.fromkeys(("server", "brokers"), "-")
        variables |= {"in": str(self.root / "in"), "out": str(self.root / "out")}
        self.state = self.root / "state"
        self._arguments = Arguments(False, variables, state=str(self.state))
        self._spark, self._script = spark, script
        self.code: int | None = None
        self._thread = threading.Thread(target=self._run)
        self._positions = Positions(self.state)
        self.watch = Watch(self.feeder, self._positions, ["events"], PATIENCE)

    @property
    def epoch(self) -> int:
        return self._positions.epoch

    def _keeps_up(self) -> bool:
        """On a slow machine longer epochs would make the next ones longer still."""
        return self.watch.unread < AHEAD

    def start(self) -> None:
        self._thread.start()
        self.feeder.start()

    def look(self) -> None:
        self.watch.look()
        assert self._thread.is_alive(), self.code

    def stop(self) -> None:
        stop_pipeline(str(self.state), timeout=PATIENCE)
        self._thread.join()
        assert self.code == 0

    def end(self) -> None:
        """Ends what is left, whatever has happened."""
        self.feeder.stop()
        if self._thread.is_alive():
            self.stop()

    def check(self) -> None:
        nowhere = self.root / "nowhere"
        places = sinks.Places(self.root / "out", nowhere, nowhere, nowhere)
        found = sinks.compare(self.parts, places, self.feeder.all_rows())
        assert found
        for sink, difference in found.items():
            assert (difference.lost, difference.doubled) == (0, 0), (self.parts, sink, difference)
            assert difference.rows > 0

    def _run(self) -> None:
        self.code = run_script(self._script, self._arguments, spark=self._spark).exit_code


@pytest.mark.long
def test_small_files_without_end(spark: SparkSession, tmp_path: Path) -> None:
    jobs = [Running(tmp_path, number, spark) for number in range(len(POLICIES))]
    try:
        for job in jobs:
            job.start()
        end = time.monotonic() + FEEDING
        watch(jobs, lambda: time.monotonic() > end and all(job.epoch >= EPOCHS for job in jobs))
        for job in jobs:
            job.feeder.close()
        watch(jobs, lambda: not any(job.watch.unread for job in jobs))
    finally:
        for job in jobs:
            job.end()
    for job in jobs:
        job.check()


def watch(jobs: list[Running], over: Callable[[], bool]) -> None:
    while not over():
        for job in jobs:
            job.look()
        time.sleep(0.2)


def test_what_spark_knows_of_files_does_not_pile_up(spark: SparkSession) -> None:
    settings = RunSettings("state", "as fast as possible", "auto", {}, {})
    policy = Checkpoint(every="1 minute", retain=5, timeout="10 minutes", tolerate=3)
    session, started, notes = run_session(settings, policy, "soak", spark)
    assert (started, notes) == (False, [])
    jvm: Any = session._jvm
    caches = jvm.org.apache.spark.sql.execution.datasources.FileStatusCache
    kind = caches.getOrCreate(session._jsparkSession).getClass().getName()
    assert kind.endswith(".NoopCache$")
    conf = session._jsparkSession.sessionState().conf()
    assert conf.fileSourceLogCleanupDelay() == 60_000
    assert conf.minBatchesToRetain() >= 5 * 60 * 2


@pytest.mark.long
def test_a_process_that_is_stopped_and_started(tmp_path: Path) -> None:
    """What grows is not judged: a minute says nothing of that."""
    wish = Wish(
        folder=tmp_path,
        parts=("formats", "once", "windows", "console", "hours", "beats"),
        policy=Policy(1, retain=3, in_flight=3),
        seconds=60,
        interval=1,
        rows=40,
        sample=2,
        patience=PATIENCE,
        actions=("stop", "terminate", "savepoint"),
    )
    outcome = Soak(wish, print).run()
    print(report.table(outcome))
    assert outcome.faults == []
    assert {sink: (one.lost, one.doubled) for sink, one in outcome.sinks.items()} == dict.fromkeys(
        outcome.sinks, (0, 0)
    )
    assert len(outcome.sinks) == 5 and all(one.rows for one in outcome.sinks.values())
    assert outcome.samples[-1]["life"] == 3
