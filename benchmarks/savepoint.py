"""Measure savepoints: how fast they are taken and restored, and what they cost a running job.

    python benchmarks/savepoint.py                      1M and 5M keys: about ten minutes
    python benchmarks/savepoint.py --keys 200000 --no-job

A windowed aggregate and a keyed operator with a timer (`benchmarks/savepoints/`), one row per key.
In one warm Spark each: `create` is from the barrier to the last file of the savepoint; `restore` is
a run from it to the end, less a run of the same job that only starts. MB are those of the
savepoint's Parquet.

Then the operator runs over many files of 40,000 rows, once by itself and once while `streamc
savepoint create` takes one savepoint after the other in a separate process, from the first barrier
on: reported is the time to the end of its input. The exit code is 1 if the job keeps less than 0.85
of its throughput.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from streamc.runtime import Arguments, run_script
from streamc.runtime.savepoints.process import savepoint_of, take_savepoint

HERE = Path(__file__).parent / "savepoints"
KINDS = ("aggregate", "operator")
GOAL = 0.85
CORES = 2
STREAMC = [sys.executable, "-c", "from streamc.cli.app import main; main()"]


def main() -> None:
    """Measure everything, print a line for each figure."""
    parser = argparse.ArgumentParser(description="How fast savepoints are.")
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--files", type=int, default=80, help="of the running job (default: 80)")
    parser.add_argument("--no-job", action="store_true", help="leave the running job out")
    args = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    ratio = 1.0
    with tempfile.TemporaryDirectory() as temporary:
        spark = session()
        for keys in args.keys:
            source = made(spark, Path(temporary) / f"in-{keys}", keys, CORES)
            for kind in KINDS:
                measure(spark, Path(temporary) / f"{kind}-{keys}", kind, source, keys)
        if not args.no_job:
            many = made(spark, Path(temporary) / "many", 40_000 * args.files, args.files)
            spark.stop()
            ratio = beside(Path(temporary), many)
    sys.exit(0 if ratio >= GOAL else 1)


def measure(spark: SparkSession, root: Path, kind: str, source: Path, keys: int) -> None:
    """Take a savepoint of so many keys and restore it."""
    script = compiled(root, kind)
    state = str(root / "state")
    arguments = Arguments(True, {"input": str(source), "out": str(root / "out")}, None, state)

    def ran(savepoint: str | None = None) -> float:
        begun = time.perf_counter()
        asked = Arguments(True, arguments.variables, None, state, savepoint)
        result = run_script(script, asked, spark=spark)
        if result.exit_code:
            sys.exit("\n".join(failure.render() for failure in result.failures))
        return time.perf_counter() - begun

    ran()
    begun = time.perf_counter()
    take_savepoint(state, name="cut", spark=spark)
    created = time.perf_counter() - begun
    saved, _ = savepoint_of(state, "cut")
    plain = ran()
    restored = ran("cut") - plain
    for what, seconds in (("create", created), ("restore", restored)):
        rate, mb = saved.rows / seconds, saved.bytes / 1e6 / seconds
        print(
            f"{kind}, {keys:,} keys: {what} {seconds:.1f} s, {rate:,.0f} rows and {mb:.1f} MB a "
            f"second ({saved.rows:,} rows, {saved.bytes / 1e6:.0f} MB)",
            flush=True,
        )


def beside(root: Path, source: Path) -> float:
    """The throughput of a job while savepoints are taken, relative to that without."""
    took = {}
    for name in ("warm", "alone", "beside"):
        place = root / f"job-{name}"
        script = compiled(place, "operator")
        state = place / "state"
        command = [*STREAMC, "run", str(script), "--until-caught-up", "--state", str(state)]
        command += ["--var", f"input={source}", "--var", f"out={place / 'out'}"]
        with savepoints(state) if name == "beside" else nothing() as taken:
            begun = time.perf_counter()
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            took[name] = time.perf_counter() - begun
        if name == "beside":
            print(f"{taken[0]} savepoints were taken meanwhile")
    ratio = took["alone"] / took["beside"]
    print(
        f"job: {took['alone']:.1f} s alone, {took['beside']:.1f} s beside savepoints: {ratio:.2f}"
    )
    return ratio


@contextmanager
def nothing() -> Iterator[list[int]]:
    """Nothing runs next to the job."""
    yield [0]


@contextmanager
def savepoints(state: Path) -> Iterator[list[int]]:
    """Takes savepoints one after the other from the first barrier on; the list has their number."""
    loop = (
        "import pathlib, subprocess, time\n"
        f"command = {[*STREAMC, 'savepoint', 'create', '--state', str(state)]!r}\n"
        f"barriers = pathlib.Path({str(state / 'generations')!r})\n"
        "while not list(barriers.glob('*/barriers/*')): time.sleep(0.1)\n"
        "while True: subprocess.run(command, capture_output=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", loop], start_new_session=True)
    taken = [0]
    try:
        yield taken
    finally:
        os.killpg(process.pid, 9)
        process.wait()
        found = [path for path in (state / "savepoints").glob("*") if path.name[0] != "."]
        taken[0] = len(found)


def compiled(root: Path, kind: str) -> Path:
    """The script of a pipeline."""
    command = [*STREAMC, "compile", str(HERE / f"{kind}.stream"), "-o", str(root / "build")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return root / "build" / "savepoint.py"


def made(spark: SparkSession, folder: Path, rows: int, files: int) -> Path:
    """The input: one row per key, within an hour."""
    spark.range(0, rows, 1, files).selectExpr(
        "id AS k", "id % 1000 AS v", "timestamp_millis(1767225600000 + id % 3000000) AS at"
    ).write.parquet(str(folder))
    return folder


def session() -> SparkSession:
    """A local Spark with two cores."""
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", str(CORES))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


if __name__ == "__main__":
    main()
