"""Measure what a row of a rolling sum costs with more and more rows in its frame.

    python benchmarks/rolling.py                      200,000 rows, 10 keys, three runs of each
    python benchmarks/rolling.py --rows 50000 --runs 1

The same rows go through SUM and AVG over RANGE frames of 10, 100, 1,000 and 10,000 rows, each as a
whole process from an empty state, in turn; what counts is the time from start to end, JVM included.
Frames are full after as many rows of each key. The goal is at most twice the time of the shortest
frame; above it the exit code is 1.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

FRAMES = (10, 100, 1000, 10000)
GOAL = 2.0
KEYS = 10
FILES = 4

SPEC = """\
---
pipeline: rolling
variables: {{input: data}}
---

CREATE SOURCE payments (
  card   STRING,
  amount DOUBLE,
  ts     TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 SECOND
) WITH (connector = 'files', path = '${{input}}', format = 'parquet');

CREATE STREAM spend AS
  SELECT card, ts, SUM(amount) OVER lately AS spent, AVG(amount) OVER lately AS mean
  FROM payments
  WINDOW lately AS (PARTITION BY card ORDER BY ts RANGE INTERVAL {seconds} SECONDS PRECEDING);

CREATE SINK out FROM spend WITH (connector = 'discard');
"""


def main() -> None:
    """Run all frames in turn, print the times and the ratios."""
    parser = argparse.ArgumentParser(description="Rolling sums over frames of different sizes.")
    parser.add_argument("--rows", type=int, default=200_000, help="rows (default: 200,000)")
    parser.add_argument("--keys", type=int, default=KEYS, help=f"keys (default: {KEYS})")
    parser.add_argument("--runs", type=int, default=3, help="runs of each (default: 3)")
    args = parser.parse_args()
    if min(args.rows, args.keys, args.runs) < 1:
        parser.error("--rows, --keys and --runs must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write(work / "data", args.rows, args.keys)
        times: dict[int, list[float]] = {frame: [] for frame in FRAMES}
        for _ in range(args.runs):
            for frame in FRAMES:
                times[frame].append(timed(work, frame))
                print(f"{frame:6,} rows {times[frame][-1]:7.1f} s", flush=True)
    least = statistics.median(times[FRAMES[0]])
    print(f"\n{args.rows:,} rows, {args.keys} keys\nframe    median   ratio")
    ratios = [statistics.median(times[frame]) / least for frame in FRAMES]
    for frame, ratio in zip(FRAMES, ratios, strict=True):
        print(f"{frame:6,} {statistics.median(times[frame]):7.1f} {ratio:7.2f}")
    print(f"\nthe greatest ratio: {max(ratios):.2f} (goal: at most {GOAL})")
    sys.exit(0 if max(ratios) <= GOAL else 1)


def write(folder: Path, rows: int, keys: int) -> None:
    """Write a row for each key and second, in files that follow each other in time."""
    folder.mkdir()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    part = -(-rows // FILES)
    for number in range(FILES):
        places = range(number * part, min(rows, (number + 1) * part))
        table = pa.table(
            {
                "card": [f"card {place % keys}" for place in places],
                "amount": [place * 7919 % 10_007 / 100 for place in places],
                "ts": [start + timedelta(seconds=place // keys) for place in places],
            }
        )
        parquet.write_table(table, folder / f"{number}.parquet")


def timed(work: Path, frame: int) -> float:
    """Return the seconds that a job takes; its frame has as many rows."""
    spec, state = work / "rolling.stream", work / "state"
    spec.write_text(SPEC.format(seconds=frame - 1))
    streamc = Path(sys.executable).with_name("streamc")
    subprocess.run([streamc, "compile", spec, "-o", work], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(state, ignore_errors=True)
    command: list[str | Path] = [
        sys.executable,
        work / "rolling.py",
        "--until-caught-up",
        "--state",
        state,
    ]
    start = time.monotonic()
    found = subprocess.run(
        [*command, "--var", f"input={work / 'data'}"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        sys.exit(found.stderr)
    return time.monotonic() - start


if __name__ == "__main__":
    main()
