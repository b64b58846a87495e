"""The watchdog: when a run is reported as stalled, and whom it names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamc.runtime.barriers.gate import GateStatus, Turn
from streamc.runtime.barriers.stall import find_stall

NOW = 1_000_000.0
TIMEOUT = 600.0
DONE = {"a": Turn(7, 0, NOW), "b": Turn(7, 0, NOW)}
STATUS = GateStatus(
    epoch=7,
    drained=False,
    all_done=True,
    caught_up=False,
    over=False,
    broken=False,
    failures=0,
    awaited=False,
    barrier=None,
    waits="sources",
    moved_at=NOW - 31,
    asked_at=NOW - 31,
    queries=DONE,
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "the sources were asked 31 s ago and have not answered"),
        ({"asked_at": None}, "no query asks for an epoch after it"),
        ({"asked_at": None, "awaited": True, "waits": "queries"}, "a barrier is requested"),
        ({"asked_at": None, "waits": "record"}, "input waits for a barrier to be recorded"),
        ({"barrier": 7}, "the barrier of epoch 7 is reached but not recorded"),
        ({"asked_at": None, "waits": "ending"}, "the run should end but does not"),
    ],
)
def test_a_stall_names_who_is_waited_for(changes: dict[str, object], said: str) -> None:
    stall = find_stall(replace(STATUS, **changes), NOW, cadence=0, timeout=TIMEOUT)
    assert stall is not None and said in stall.reason
    assert not stall.at_work and stall.seconds == 31


def test_a_query_at_work_has_until_the_timeout() -> None:
    busy = replace(STATUS, queries={**DONE, "b": Turn(6, 0, NOW)}, moved_at=NOW - 599)
    assert find_stall(busy, NOW, cadence=0, timeout=TIMEOUT) is None
    stall = find_stall(replace(busy, moved_at=NOW - 601), NOW, cadence=0, timeout=TIMEOUT)
    assert stall is not None and stall.at_work
    assert stall.reason.startswith("epoch 7 is not committed by `b`")


def test_a_run_that_moves_is_no_stall() -> None:
    assert find_stall(replace(STATUS, moved_at=NOW - 29), NOW, 0, TIMEOUT) is None


def test_a_slow_trigger_is_no_stall() -> None:
    assert find_stall(replace(STATUS, moved_at=NOW - 3600), NOW, 3600, TIMEOUT) is None
    assert find_stall(replace(STATUS, moved_at=NOW - 3700), NOW, 3600, TIMEOUT) is not None


def test_a_clock_that_was_set_back_is_no_stall() -> None:
    assert find_stall(replace(STATUS, moved_at=NOW + 3600), NOW, 0, TIMEOUT) is None
