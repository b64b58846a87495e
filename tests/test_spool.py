"""One row has one value in all sinks, whatever is lost in between.

Random numbers are drawn once for all sinks of a stream; the time is that of the epoch in all
queries.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, Result, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """
CREATE SOURCE orders (id BIGINT NOT NULL)
WITH (connector = 'files', path = '${root}/in', format = 'json', max_files_per_trigger = 1);

CREATE STREAM drawn AS SELECT id, RAND() AS draw, UUID() AS tag FROM orders;

CREATE SINK first_out FROM drawn
WITH (connector = 'files', path = '${root}/first', format = 'json');
CREATE SINK midway FROM drawn WITH (connector = 'python', function = 'between:lose');
CREATE SINK second_out FROM drawn
WITH (connector = 'files', path = '${root}/second', format = 'json');
"""
UNSEEN = """
CREATE STREAM sealed AS
  SELECT id, HEX(AES_ENCRYPT(CAST(id AS STRING), '0123456789abcdef')) AS tag FROM orders;

CREATE OPERATOR tagged ON orders PARTITION BY id RETURNS (id BIGINT, tag STRING)
AS
ON EVENT
  EMIT id, CONCAT(UUID(), RAND());
END;

CREATE SINK sealed_first FROM sealed
WITH (connector = 'files', path = '${root}/sealed_first', format = 'json');
CREATE SINK sealed_midway FROM sealed WITH (connector = 'python', function = 'between:forget');
CREATE SINK sealed_second FROM sealed
WITH (connector = 'files', path = '${root}/sealed_second', format = 'json');
CREATE SINK tagged_first FROM tagged
WITH (connector = 'files', path = '${root}/tagged_first', format = 'json');
CREATE SINK tagged_midway FROM tagged WITH (connector = 'python', function = 'between:forget');
CREATE SINK tagged_second FROM tagged
WITH (connector = 'files', path = '${root}/tagged_second', format = 'json');
"""
"""Values of chance of which Spark's planner knows nothing."""

TIMES = """
CREATE SOURCE arrivals (id BIGINT, arrived AS PROCTIME())
WITH (connector = 'files', path = '${root}/in', format = 'json', max_files_per_trigger = 1);

CREATE STREAM stamped AS
  SELECT id, arrived, CURRENT_TIMESTAMP() AS at, CURRENT_DATE() AS day, LOCALTIMESTAMP() AS local,
    UNIX_TIMESTAMP() AS second
  FROM arrivals;

CREATE STREAM odd AS SELECT id, arrived, at, day, local, second FROM stamped WHERE id % 2 = 1;

CREATE OPERATOR clock ON arrivals PARTITION BY id
  RETURNS (id BIGINT, told TIMESTAMP, day DATE, local TIMESTAMP_NTZ, second BIGINT)
AS
ON EVENT
  EMIT id, now(), current_date(), localtimestamp(), unix_timestamp();
END;

CREATE STREAM odd_clock AS SELECT id, told, day, local, second FROM clock WHERE id % 2 = 1;

CREATE SINK stamped_out FROM stamped
WITH (connector = 'files', path = '${root}/stamped', format = 'json');
CREATE SINK odd_out FROM odd
WITH (connector = 'files', path = '${root}/odd', format = 'json');
CREATE SINK clock_out FROM clock
WITH (connector = 'files', path = '${root}/clock', format = 'json');
CREATE SINK odd_clock_out FROM odd_clock
WITH (connector = 'files', path = '${root}/odd_clock', format = 'json');
"""
FRONT = "---\npipeline: drawn\nvariables:\n  root:\n---\n"
LOSE = """
from pathlib import Path

def forget(batch, batch_id):
    context = batch.sparkSession.sparkContext
    for kept in context._jsc.getPersistentRDDs().values():
        kept.unpersist(True)

def lose(batch, batch_id):
    forget(batch, batch_id)
    rows = [tuple(row) for row in batch.orderBy("id").collect()]
    Path({seen!r}).open("a").write(f"{{batch_id}} {{rows}}\\n")
    once = Path({once!r})
    if batch_id == 2 and not once.exists():
        once.touch()
        raise RuntimeError("stopped here")
"""


def run(spark: SparkSession, root: Path) -> Result:
    script = written(compiled_text(FRONT + SPEC + UNSEEN + TIMES, "drawn.stream"), root)
    asked = Arguments(until_caught_up=True, variables={"root": str(root)}, state=f"{root}/state")
    return run_script(script, asked, spark=spark, folders=[str(root)])


def lines(folder: Path) -> list[str]:
    return sorted(line for f in folder.glob("*.json") for line in f.read_text("utf-8").splitlines())


def by_id(folder: Path) -> dict[int, dict[str, Any]]:
    rows = [json.loads(line) for line in lines(folder)]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def test_a_row_has_one_value_in_all_sinks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, once = tmp_path / "seen", tmp_path / "once"
    (tmp_path / "between.py").write_text(LOSE.format(seen=str(seen), once=str(once)))
    (tmp_path / "in").mkdir()
    for number in range(3):
        path = tmp_path / "in" / f"{number}.json"
        path.write_text("".join(f'{{"id": {number * 10 + n}}}\n' for n in range(5)))
        os.utime(path, (1_700_000_000 + number,) * 2)
    # The first sink has the second batch, the third has not; all cached blocks are dropped.
    assert run(spark, tmp_path).exit_code == 1
    assert run(spark, tmp_path).exit_code == 0
    first: Any = lines(tmp_path / "first")
    assert len(first) == 15
    assert first == lines(tmp_path / "second")
    told = [line for line in seen.read_text().splitlines() if line.startswith("2 ")]
    assert len(told) == 2
    assert told[0] == told[1]
    for stream in ("sealed", "tagged"):
        found = by_id(tmp_path / f"{stream}_first")
        assert found == by_id(tmp_path / f"{stream}_second")
        assert len({row["tag"] for row in found.values()}) == 15
    check_times(tmp_path)


STAMPS = ("day", "local", "second")


def check_times(root: Path) -> None:
    stamped, clock = by_id(root / "stamped"), by_id(root / "clock")
    assert len(stamped) == len(clock) == 15
    assert by_id(root / "odd") == {n: row for n, row in stamped.items() if n % 2}
    assert by_id(root / "odd_clock") == {n: row for n, row in clock.items() if n % 2}
    for number, row in stamped.items():
        told = clock[number]
        assert row["at"] == row["arrived"] == told["told"]
        assert [row[c] for c in STAMPS] == [told[c] for c in STAMPS]
        assert row["day"] == row["local"][:10] == row["at"][:10]
        assert datetime.fromisoformat(row["at"]).timestamp() // 1 == row["second"]
        assert row["local"][:23] == row["at"][:23]
    # An epoch has one instant, and each file was an epoch.
    found = {(number // 10, row["at"]) for number, row in stamped.items()}
    assert len(found) == len({at for _, at in found}) == 3
