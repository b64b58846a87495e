"""How many partitions a state has: by the cores of the job, and by Spark's logs from then on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamc.contracts.reserved import SHUFFLE_PARTITIONS
from streamc.runtime.execution.partitions import first_start, too_late
from streamc.runtime.spark.cores import cores_of
from streamc.runtime.state.partitions import recorded_partitions
from streamc.runtime.storage.local_files import LocalFiles

EXECUTOR, DYNAMIC = "spark.executor", "spark.dynamicAllocation"


@pytest.mark.parametrize(
    ("master", "conf", "registered", "cores"),
    [
        ("local[4]", {}, 4, 4),
        ("local[4]", {f"{EXECUTOR}.instances": "9"}, 4, 4),
        ("spark://host:7077", {}, 6, 6),
        ("spark://host:7077", {"spark.cores.max": "12"}, 2, 12),
        ("yarn", {f"{EXECUTOR}.instances": "4", f"{EXECUTOR}.cores": "3"}, 2, 12),
        ("yarn", {f"{EXECUTOR}.instances": "4"}, 2, 4),
        ("k8s://host", {f"{EXECUTOR}.instances": "1"}, 2, 2),
        ("yarn", {f"{DYNAMIC}.enabled": "true", f"{EXECUTOR}.cores": "3"}, 2, 2),
        (
            "yarn",
            {
                f"{DYNAMIC}.enabled": "true",
                f"{DYNAMIC}.maxExecutors": "5",
                f"{EXECUTOR}.cores": "3",
                f"{EXECUTOR}.instances": "2",
            },
            2,
            15,
        ),
        ("yarn", {f"{DYNAMIC}.enabled": "true", f"{DYNAMIC}.maxExecutors": str(2**31 - 1)}, 7, 7),
        ("local-cluster[2,1,1024]", {}, 2, 2),
    ],
)
def test_cores(master: str, conf: dict[str, str], registered: int, cores: int) -> None:
    assert cores_of(master, conf, registered) == cores


def test_the_newest_batch_of_each_query_counts(tmp_path: Path) -> None:
    files, generation = LocalFiles(), str(tmp_path)
    assert recorded_partitions(files, generation) is None
    for query, batch, number in (("a", "9", 2), ("a", "10", 8), ("b", "3", 8)):
        path = tmp_path / "queries" / query / "offsets" / batch
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = json.dumps({"batchWatermarkMs": 0, "conf": {SHUFFLE_PARTITIONS: str(number)}})
        path.write_text(f"v2\n{metadata}\npayments:{{}}", encoding="utf-8")
        (path.parent / f".{batch}.crc").touch()
    assert recorded_partitions(files, generation) == 8
    for damaged in ("", "v2", "v2\n{", "v2\n[]", 'v2\n{"conf": {}}'):
        (tmp_path / "queries/a/offsets/11").write_text(damaged, encoding="utf-8")
        assert recorded_partitions(files, generation) == 8


def test_what_a_start_says() -> None:
    assert first_start(8, asked=False).endswith("in 8 partitions, as many as the job has cores")
    assert first_start(8, asked=True).endswith(f"in 8 partitions, as `{SHUFFLE_PARTITIONS}` says")
    assert "stays in 8 partitions" in too_late(8, "16", "s") and "is 16" in too_late(8, "16", "s")
