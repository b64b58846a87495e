"""Small files become bigger ones: no row is lost or duplicated, whatever interrupts it."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from guarded import restore as put_back
from streamc.runtime import RuntimeFault
from streamc.runtime.connectors.files.compaction import Compacted, compact
from streamc.runtime.connectors.files.sink import FileSink
from streamc.runtime.connectors.interface import SinkRequest
from streamc.runtime.connectors.sinks import open_sinks
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.state.state import State
from streamc.runtime.storage import file_system as storage_module
from streamc.runtime.storage.file_system import Storage
from streamc.runtime.storage.notes import create_note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
BATCHES, BOUND = 6, 3
TEXT = r"""concat('a\n"', id) AS text"""


class Crash(Exception):
    """Stands in for the end of the process."""


@pytest.fixture(scope="module")
def storage(spark: SparkSession) -> Storage:
    return Storage(load_kernel(spark, kernel_jar(lambda line: None)), spark)


def opened(storage: Storage, root: Path, format: str, **options: str) -> FileSink:
    state = State(storage, str(root / "state"), "p")
    try:
        given = {"format": format, "path": str(root / "out"), **options}
        asked = SinkRequest("spend", "per_minute", given, (), None, state, 100, print, ())
        sink = FileSink(asked)
        open_sinks([sink], state)
        return sink
    finally:
        state.close()


def written(
    spark: SparkSession, storage: Storage, root: Path, format: str, **options: str
) -> FileSink:
    """A sink with batches of two files each, and a barrier after the fourth."""
    root.mkdir(exist_ok=True)
    sink = opened(storage, root, format, **options)
    generation = root / "state/generations/0001"
    commits = generation / "queries/per_minute/commits"
    commits.mkdir(parents=True)
    for batch in range(BATCHES):
        rows = spark.range(batch * 100, batch * 100 + 4, 1, 2)
        sink.write(rows.selectExpr(*columns(format)), batch)
        (commits / str(batch)).touch()
    moment = "2026-01-01T00:00:00.000+00:00"
    cut = {"batch": BOUND, "watermark": None, "acknowledged_ms": 1, "operators": []}
    document = {
        **{"barrier": 7, "epoch": BOUND, "generation": "0001", "pipeline": "p", "version": 1},
        **{"requested_at": moment, "completed_at": moment, "duration_ms": 1},
        "queries": {"per_minute": {**cut, "rows_in": 0, "rows_out": 0}},
        **{"sources": {}, "sinks": {}, "ledger": {}, "files": {}},
    }
    create_note(storage, f"{generation}/barriers/000000007.json", document)
    return sink


def columns(format: str) -> tuple[str, ...]:
    return ("CAST(id AS STRING) AS id",) if format == "text" else ("id", TEXT)


def rows(spark: SparkSession, root: Path, format: str) -> Counter[Any]:
    if format == "text":
        return Counter(int(row["value"]) for row in spark.read.text(str(root / "out")).collect())
    options = {"header": "true", "multiLine": "true", "escape": '"'} if format == "csv" else {}
    frame = spark.read.format(format).options(**options).load(str(root / "out"))
    found = frame.collect()
    assert all(row["text"] == f'a\n"{row["id"]}' for row in found)
    return Counter(int(row["id"]) for row in found)


ALL = Counter(batch * 100 + row for batch in range(BATCHES) for row in range(4))


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("json", {"options": {"spark.compression": "gzip"}}),
        ("parquet", {}),
        *(pytest.param(format, {}, marks=pytest.mark.long) for format in ("json", "csv", "orc")),
        pytest.param("text", {"compression": "gzip"}, marks=pytest.mark.long),
    ],
)
def test_small_files_are_merged(
    spark: SparkSession, storage: Storage, tmp_path: Path, format: str, options: Any
) -> None:
    written(spark, storage, tmp_path, format, **options)
    expected = compact("spend", str(tmp_path / "state"), dry_run=True, spark=spark)
    assert (expected.files_before, expected.files_after) == (12, 5)
    assert rows(spark, tmp_path, format) == ALL
    done = compact("spend", str(tmp_path / "state"), spark=spark)
    names = [file.name for file in (tmp_path / "out").iterdir() if file.is_file()]
    assert (done.files_before, done.files_after, len(names)) == (12, 5, 5)
    assert done.bytes_after == sum((tmp_path / "out" / name).stat().st_size for name in names)
    assert any(name.startswith("spend-0001-000000000-000000003-00000.") for name in names)
    assert rows(spark, tmp_path, format) == ALL
    again = compact("spend", str(tmp_path / "state"), spark=spark)
    assert again.reason == "there is nothing to merge"
    # The sink continues as if nothing had happened.
    sink = opened(storage, tmp_path, format, **options)
    frame = spark.range(600, 604, 1, 2).selectExpr(*columns(format))
    assert sink.write(frame, BATCHES) == 4
    assert rows(spark, tmp_path, format) == ALL + Counter(range(600, 604))


STEPS = 9


@pytest.mark.long
@pytest.mark.parametrize("then", ["open", "compact"])
def test_a_merge_that_is_stopped_is_finished(
    spark: SparkSession,
    storage: Storage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    then: str,
) -> None:
    """Before each of its steps."""
    root = tmp_path / "merged"
    written(spark, storage, root, "json")
    shutil.copytree(root, tmp_path / "kept", copy_function=shutil.copy2)
    for number in range(1, STEPS + 1):
        put_back(tmp_path / "kept", root)
        with monkeypatch.context() as patch:
            _stop_before(patch, number)
            with pytest.raises(Crash):
                compact("spend", str(root / "state"), spark=spark)
        if then == "open":
            opened(storage, root, "json")
        else:
            compact("spend", str(root / "state"), spark=spark)
        assert rows(spark, root, "json") == ALL, number
        opened(storage, root, "json")
        assert rows(spark, root, "json") == ALL, number


def _stop_before(patch: pytest.MonkeyPatch, number: int) -> None:
    """Makes the nth of all files that are created, moved and deleted end the process."""
    calls = 0

    def stopping(method: str) -> Any:
        real = getattr(storage_module.Storage, method)

        def call(self: Storage, *args: Any) -> Any:
            nonlocal calls
            steps = [[one] for one in args[0]] if method == "delete" else [args[0]]
            for step in steps:
                calls += 1
                if calls == number:
                    raise Crash
                real(self, step, *args[1:])

        return call

    for method in ("create", "move", "delete"):
        patch.setattr(storage_module.Storage, method, stopping(method))


def test_without_a_barrier_there_is_nothing_to_do(
    spark: SparkSession, storage: Storage, tmp_path: Path
) -> None:
    written(spark, storage, tmp_path, "json")
    (tmp_path / "state/generations/0001/barriers/000000007.json").unlink()
    done = compact("spend", str(tmp_path / "state"), spark=spark)
    assert done == Compacted(12, 12, done.bytes_before, done.bytes_after, "there is no barrier yet")


def test_a_sink_that_the_state_does_not_know(
    spark: SparkSession, storage: Storage, tmp_path: Path
) -> None:
    written(spark, storage, tmp_path, "json")
    with pytest.raises(RuntimeFault, match="no files sink `spent`"):
        compact("spent", str(tmp_path / "state"), spark=spark)
    with pytest.raises(RuntimeFault) as caught:
        compact("spend", str(tmp_path / "nowhere"), spark=spark)
    assert caught.value.code.number == "SR0407"
