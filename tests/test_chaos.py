"""Processes that are killed at every step, executors that are lost, a disk that is full.

`benchmarks/chaos.py` does the same for longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from harness import cluster, disk, kills, lives, series
from harness.shop import Shop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LONG = pytest.mark.long
KINDS = ("staging", "record", "moves", "manifest", "epoch", "offsets", "commit", "random", "jvm")


@pytest.fixture
def tell() -> Callable[[str], None]:
    """Lines that are shown when the test fails."""
    return lambda line: print(line, flush=True)


def check(report: series.Report, count: int) -> None:
    print(series.table(report))
    assert report.faults == []
    assert report.right
    assert len(report.killed) == count


@pytest.mark.parametrize("kinds", [("jvm",), pytest.param(KINDS, marks=LONG)], ids=["one", "all"])
def test_no_kill_loses_or_doubles_a_row(
    kinds: Sequence[str], tmp_path: Path, tell: Callable[[str], None]
) -> None:
    shop = Shop(tmp_path, seed=11)
    check(series.run(shop, kinds, 11, tell), len(kinds))
    assert {sink: found.total() > 0 for sink, found in shop.found().items()} == dict.fromkeys(
        shop.found(), True
    )


@LONG
def test_executors_that_are_killed(tmp_path: Path, tell: Callable[[str], None]) -> None:
    shop = Shop(tmp_path / "shop", seed=12)
    check(cluster.kill_executors(shop, tmp_path / "cluster", 2, 12, tell), 2)


@LONG
def test_a_full_disk(tmp_path: Path, tell: Callable[[str], None]) -> None:
    with disk.small_disk(tmp_path / "disk") as small:
        if small is None:
            pytest.skip("this user may not mount a disk")
        shop = Shop(tmp_path / "shop", seed=13, data=small)
        check(disk.fill_and_free(shop, small, 1, tell), 1)


@LONG
def test_a_jvm_ends_with_its_python(tmp_path: Path) -> None:
    shop = Shop(tmp_path, seed=14)
    shop.writer.add(6)
    life = lives.start(shop)
    assert lives.await_commit(shop, life, kills.START), life.said()
    assert life.jvms()
    life.kill_driver()
    life.wait(10)
    gone = life.wait_for_jvm(30)
    life.kill_all()
    assert gone is not None and gone < 15
