"""Files hold every row once, however a run was stopped."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from streamc.runtime.storage import file_system as storage_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
FIXTURES = Path(__file__).parent / "runtime_fixtures"
FILES = 6


def write_payments(folder: Path, number: int, rows: int = 20) -> None:
    """One input file: a minute of payments, with the file's number as its place in time."""
    rng = random.Random(number)
    lines = [
        json.dumps(
            {
                "payment_id": f"{number}-{row}",
                "card_id": f"c{rng.randrange(3)}",
                "amount": f"{rng.randrange(10_000) / 100:.2f}",
                "paid_at": f"2026-01-01T00:{number:02d}:{row % 60:02d}Z",
            }
        )
        for row in range(rows)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:03d}.json"
    path.with_suffix(".tmp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.with_suffix(".tmp").rename(path)
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def arguments(root: Path) -> Arguments:
    return Arguments(until_caught_up=True, variables={"root": str(root)}, state=f"{root}/state")


def run(spark: SparkSession, root: Path) -> Result:
    return run_script(FIXTURES / "spending.py", arguments(root), spark=spark)


def spend(root: Path) -> Counter[tuple[Any, ...]]:
    """The rows of the parquet sink as a plain reader sees them."""
    return Counter(
        tuple(row.values())
        for file in sorted((root / "spend").glob("*.parquet"))
        for row in pq.read_table(file).to_pylist()
    )


def payments(root: Path) -> Counter[str]:
    """The rows of the json sink as a plain reader sees them."""
    return Counter(
        line
        for file in sorted((root / "all_payments").glob("*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )


@pytest.fixture(scope="module")
def uninterrupted(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Counter[tuple[Any, ...]], Counter[str]]:
    root = tmp_path_factory.mktemp("whole")
    for number in range(FILES):
        write_payments(root / "payments", number)
    result = run(spark, root)
    assert result.exit_code == 0
    assert len(result.rows["seen"]) == sum(spend(root).values())
    assert sum(payments(root).values()) == FILES * 20
    return spend(root), payments(root)


def test_only_data_files_are_visible(spark: SparkSession, tmp_path: Path) -> None:
    write_payments(tmp_path / "payments", 0)
    write_payments(tmp_path / "payments", 1)
    run(spark, tmp_path)
    names = sorted(p.name for p in (tmp_path / "all_payments").iterdir())
    assert names == [
        "_streamc",
        "all_payments-0001-000000001-00000.json",
        "all_payments-0001-000000002-00000.json",
    ]
    assert not list((tmp_path / "all_payments").rglob("*.crc"))
    assert not list((tmp_path / "all_payments" / "_streamc" / "all_payments" / "staging").iterdir())


@pytest.mark.long
def test_restart_after_each_batch(
    spark: SparkSession,
    tmp_path: Path,
    uninterrupted: tuple[Counter[tuple[Any, ...]], Counter[str]],
) -> None:
    for number in range(FILES):
        write_payments(tmp_path / "payments", number)
        assert run(spark, tmp_path).exit_code == 0
    assert (spend(tmp_path), payments(tmp_path)) == uninterrupted
    assert run(spark, tmp_path).exit_code == 0
    assert (spend(tmp_path), payments(tmp_path)) == uninterrupted


class Crash(Exception):
    """Stands in for the end of the process."""


def crash_in(method: str, *, after: bool, number: int) -> Callable[..., Any]:
    """A method of Storage that raises at its nth call, before or after it has done its work.

    Of the files that are created, only the records of batches count.
    """
    real = getattr(storage_module.Storage, method)
    calls = 0

    def crash(self: Any, *args: Any) -> Any:
        nonlocal calls
        counts = method != "create" or "/commits/" in args[0]
        calls += counts
        now = counts and calls == number
        if now and not after:
            raise Crash(method)
        result = real(self, *args)
        if now and after:
            raise Crash(method)
        return result

    return crash


STEPS = (("write", 1), ("write", 4), ("create", 1), ("create", 4), ("move", 1), ("move", 3))
OFTEN = (("create", 4, False), ("move", 3, True))
CRASHES = [
    pytest.param(*step, after, marks=[] if (*step, after) in OFTEN else pytest.mark.long)
    for step in STEPS
    for after in (False, True)
]


@pytest.mark.parametrize(("method", "number", "after"), CRASHES)
def test_crash_at_each_step(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    uninterrupted: tuple[Counter[tuple[Any, ...]], Counter[str]],
    method: str,
    number: int,
    after: bool,
) -> None:
    for file in range(FILES):
        write_payments(tmp_path / "payments", file)
    with monkeypatch.context() as patch:
        patch.setattr(storage_module.Storage, method, crash_in(method, after=after, number=number))
        result = run(spark, tmp_path)
    assert result.exit_code == 1
    assert "Crash" in result.failures[0].message
    assert not spend(tmp_path) - uninterrupted[0]
    assert not payments(tmp_path) - uninterrupted[1]
    assert run(spark, tmp_path).exit_code == 0
    assert (spend(tmp_path), payments(tmp_path)) == uninterrupted


def test_half_moved_batch_is_finished(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the files of one batch, some are in place and the rest still in staging."""
    for file in range(2):
        write_payments(tmp_path / "payments", file)
    real = storage_module.Storage.move

    def move_first_only(self: Any, pairs: Any) -> None:
        real(self, pairs[:1])
        if len(pairs) > 1:
            raise Crash("between two files")

    with monkeypatch.context() as patch:
        patch.setattr(storage_module.Storage, "move", move_first_only)
        assert run(spark, tmp_path).exit_code == 1
    assert run(spark, tmp_path).exit_code == 0
    whole = tmp_path / "whole"
    shutil.copytree(tmp_path / "payments", whole / "payments")
    assert run(spark, whole).exit_code == 0
    assert (spend(tmp_path), payments(tmp_path)) == (spend(whole), payments(whole))


def test_fresh_state_on_old_output_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_payments(tmp_path / "payments", 0)
    assert run(spark, tmp_path).exit_code == 0
    before = payments(tmp_path)
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(RuntimeFault) as caught:
        run(spark, tmp_path)
    assert caught.value.code.number == "SR0303"
    assert payments(tmp_path) == before


def test_old_state_without_its_output_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_payments(tmp_path / "payments", 0)
    assert run(spark, tmp_path).exit_code == 0
    shutil.rmtree(tmp_path / "all_payments")
    with pytest.raises(RuntimeFault) as caught:
        run(spark, tmp_path)
    assert caught.value.code.number == "SR0304"
