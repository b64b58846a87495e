"""Barriers that can't be written, sources that hang: what a job does about it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from run_case import FIRST_ARRIVAL
from streamc.contracts.notes.barrier import Manifest
from streamc.runtime import Arguments, Result, RuntimeFault, SilentView, Stop, run_script
from streamc.runtime.barriers import coordinator as module
from streamc.runtime.barriers import stall
from streamc.runtime.base.errors import STATE_DAMAGED
from streamc.runtime.state.mailbox import stop_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """---
pipeline: patient
variables: {{root: null}}
---
CHECKPOINT EVERY INTERVAL {every} SECONDS RETAIN 2 TIMEOUT INTERVAL {timeout} SECONDS
  TOLERATE 2 FAILURES;

CREATE SOURCE events (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = '${{root}}/in', format = 'json', max_files_per_trigger = 1);

CREATE STREAM counts AS
  SELECT window_start, COUNT(*) AS n FROM TUMBLE(events, at, INTERVAL 1 MINUTE)
  GROUP BY window_start;

CREATE SINK counted FROM counts
WITH (connector = 'files', path = '${{root}}/out', format = 'json');
"""


class Seen(SilentView):
    """The messages of a run, and actions triggered by them."""

    def __init__(self) -> None:
        self.barriers: list[Manifest] = []
        self.failed: list[str] = []
        self.notes: list[str] = []

    def barrier(self, manifest: Manifest) -> None:
        self.barriers.append(manifest)

    def barrier_failed(self, reason: str) -> None:
        self.failed.append(reason)

    def note(self, text: str) -> None:
        self.notes.append(text)


class Job:
    """A job in this process, in a thread, on a folder with one file per minute."""

    def __init__(self, root: Path, spark: SparkSession, *, every: int, timeout: int = 60) -> None:
        self.root = root
        self.seen = Seen()
        self.ended: Result | None = None
        self.error: ZeroDivisionError | None = None
        self.state = str(root / "state")
        (root / "in").mkdir()
        result = compiled_text(SPEC.format(every=every, timeout=timeout), "patient.stream")
        assert not len(result.diagnostics), [each.message for each in result.diagnostics]
        self._script = written(result, root)
        self._spark = spark
        self._files = 0
        self._stop = Stop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def put(self, count: int) -> None:
        for number in range(self._files, self._files + count):
            path = self.root / "in" / f"{number:03d}.json"
            row = {"id": number, "at": f"2026-01-01T00:{number:02d}:00Z"}
            path.write_text(json.dumps(row) + "\n", encoding="utf-8")
            os.utime(path, (FIRST_ARRIVAL + number,) * 2)
        self._files += count

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        arguments = Arguments(False, {"root": str(self.root)}, state=self.state)
        try:
            self.ended = run_script(
                self._script, arguments, view=self.seen, spark=self._spark, stop=self._stop
            )
        except ZeroDivisionError as error:
            self.error = error

    def wait_for(self, so: Callable[[], bool]) -> None:
        end = time.monotonic() + 240
        while not so():
            assert self.ended is None, self._shown()
            assert time.monotonic() < end, (self.seen.notes, self.seen.failed)
            time.sleep(0.05)

    def join(self) -> Result:
        self._thread.join(240)
        assert self.ended is not None
        return self.ended

    def stop(self) -> None:
        stop_pipeline(self.state, timeout=240)
        assert self.join().exit_code == 0, self._shown()

    def rows(self) -> list[int]:
        files = sorted((self.root / "out").glob("*.json"))
        lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
        return [json.loads(line)["n"] for line in lines]

    def _shown(self) -> list[str]:
        assert self.ended is not None
        return [failure.render() for failure in self.ended.failures]


def failing(times: int, original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that fails a number of times before it does its work."""
    left = [times]

    def call(*arguments: Any, **named: Any) -> Any:
        if left[0] > 0:
            left[0] -= 1
            raise RuntimeFault(STATE_DAMAGED, "planted", None)
        return original(*arguments, **named)

    return call


def test_a_barrier_that_fails_is_tried_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice in a row, as often as is tolerated; without a retry there would be no barrier."""
    monkeypatch.setattr(module, "manifest_text", failing(2, module.manifest_text))
    job = Job(tmp_path, spark, every=1)
    job.put(3)
    job.start()
    job.wait_for(lambda: len(job.seen.barriers) >= 1)
    assert job.seen.failed == ["planted", "planted"]
    # The number of an attempt that may be on the disk is not reused.
    assert job.seen.barriers[0].barrier == 3
    job.put(2)
    job.wait_for(lambda: len(job.rows()) == 4)
    job.stop()
    assert job.rows() == [1, 1, 1, 1]


def test_too_many_in_a_row_end_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "manifest_text", failing(100, module.manifest_text))
    job = Job(tmp_path, spark, every=1)
    job.put(3)
    job.start()
    ended = job.join()
    assert [failure.code.number for failure in ended.failures] == ["SR0503"]
    assert "3 barriers in a row have failed; the last: planted" in ended.failures[0].message


def test_a_mistake_of_ours_ends_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it ended the thread, the job would have no more barriers."""
    monkeypatch.setattr(module, "manifest_text", lambda *given: 1 // 0)
    job = Job(tmp_path, spark, every=1)
    job.put(3)
    job.start()
    job._thread.join(240)
    assert job.error is not None


def test_old_files_that_stay_are_no_failed_barrier(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "retire", failing(100, module.retire))
    job = Job(tmp_path, spark, every=1)
    job.put(3)
    job.start()
    job.wait_for(lambda: len(job.seen.barriers) >= 1)
    job.put(2)
    job.wait_for(lambda: len(job.seen.barriers) >= 2)
    job.stop()
    assert job.seen.failed == []
    assert len([note for note in job.seen.notes if "no longer kept are still there" in note]) == 1


def test_a_source_that_hangs_holds_up_neither_barriers_nor_a_stop(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources answer after an hour or so; the run reports that it waits for them."""
    monkeypatch.setattr(stall, "_PATIENCE", 2.0)
    monkeypatch.setenv("STREAMC_DELAYS", '{"gate.ask": 10000000}')
    job = Job(tmp_path, spark, every=5)
    job.start()
    job.wait_for(lambda: any("have not answered" in note for note in job.seen.notes))
    job.stop()
    assert len(job.seen.barriers) == 1 and job.seen.failed == []


def test_a_run_that_cannot_continue_ends(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall, "_PATIENCE", 2.0)
    monkeypatch.setenv("STREAMC_DELAYS", '{"gate.ask": 10000000}')
    job = Job(tmp_path, spark, every=60, timeout=4)
    job.start()
    ended = job.join()
    assert [failure.code.number for failure in ended.failures] == ["SR0506"]
    assert ended.exit_code == 1 and "have not answered" in ended.failures[0].message
