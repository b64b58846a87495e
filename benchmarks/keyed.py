"""Measure keyed programs against PySpark's stateful processors and Spark's own aggregate.

    python benchmarks/keyed.py                          2,000,000 rows; 1k to 1M keys: half an hour
    python benchmarks/keyed.py --rows 200000 --keys 1000 --runs 1
    python benchmarks/keyed.py --keys 1000000 --jvm     without Python, which takes most of the time

Two jobs over the same parquet files, each row of which changes the state of its key and emits a
row: a running sum, and a machine of four states with a timer. As programs of the kernel; as
`transformWithState` by rows and by pandas; as `applyInPandasWithState`; the sum also as Spark's
aggregate, which emits only one row for each key and batch. All in one Spark, in turn, each on
RocksDB from an empty state, in four batches: the first creates the state of most keys, the others
change it.

Those in Python get the first of these batches, once, without a warm-up run; beyond 100,000 keys a
tenth of the rows. One that has not finished after `--patience` is stopped: its rate is below the
one shown with `<`. The exit code is 1 unless both jobs reach ten times the best of Python at
100,000 keys, and half of the aggregate at the most keys.
"""

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from streamc.runtime import program
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel

FASTER, NATIVE = 10.0, 0.5
MANY = 100_000
CORES = 2
PYTHON = ("rows", "pandas", "applied")
OUT = "k BIGINT, n BIGINT, total BIGINT"
STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def main() -> None:
    """Measure everything, print a table."""
    parser = argparse.ArgumentParser(description="Rows a second of keyed state.")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=3, help="measured runs (default: 3)")
    parser.add_argument("--batches", type=int, default=4, help="micro-batches (default: 4)")
    parser.add_argument("--patience", type=int, default=300, help="seconds (default: 300)")
    parser.add_argument("--jvm", action="store_true", help="leave Python's processors out")
    args = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = session()
    kernel = load_kernel(spark, kernel_jar(tell))
    found: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for python, keys in itertools.product((False,) if args.jvm else (False, True), args.keys):
            batches = 1 if python else args.batches
            share = args.batches if python and keys <= MANY else 10 if python else 1
            rows = args.rows // share
            source = made(spark, Path(temporary), rows, keys, batches)
            jobs = {n: job for n, job in sides(kernel).items() if (n in PYTHON) is python}
            times: dict[str, list[float]] = {name: [] for name in jobs}
            # # In turn, so that other load on the machine affects all of them.
            for run, name in itertools.product([0] if python else range(-1, args.runs), jobs):
                place = Path(temporary) / f"{name}-{keys}-{run}"
                frame = jobs[name](read(spark, source))
                seconds = took(frame, place, name, args.patience if python else None)
                times[name] += [seconds] if run >= 0 else []
            for name in jobs:
                found[name, keys] = rows / statistics.median(times[name])
                tell(f"{keys} keys, {name}: {number(found[name, keys])} rows a second")
    sys.exit(0 if shown(found, args.keys) else 1)


def sides(kernel: Any) -> dict[str, Callable[[DataFrame], DataFrame]]:
    """The jobs by name."""
    return {
        "aggregate": lambda rows: rows.groupBy("k").agg(F.count("*"), F.sum("v")),
        "sum": lambda rows: running_sum(kernel, rows),
        "machine": lambda rows: machine(kernel, rows),
        "rows": lambda rows: rows.groupBy("k").transformWithState(
            SumByRows(), OUT, "Update", "None"
        ),
        "pandas": lambda rows: rows.groupBy("k").transformWithStateInPandas(
            SumByPandas(), OUT, "Update", "None"
        ),
        "applied": lambda rows: rows.groupBy("k").applyInPandasWithState(
            sum_applied, OUT, "n BIGINT, total BIGINT", "update", "NoTimeout"
        ),
    }


def running_sum(kernel: Any, rows: DataFrame) -> DataFrame:
    """The count and the sum of a key so far, for each row."""
    inputs = [program.rows("e", rows, keys=["k"], columns=["v"])]
    state = [
        program.value("n", "BIGINT", default="0L"),
        program.value("total", "BIGINT", default="0L"),
    ]
    counted = program.on_event(
        "e",
        program.assign("n", "n + 1"),
        program.assign("total", "total + v"),
        program.emit("k", "n", "total"),
    )
    return made_of(kernel, "sum", inputs, state, [], [counted])


def machine(kernel: Any, rows: DataFrame) -> DataFrame:
    """A machine of four states: each row moves it on and sets its timer."""
    timed = rows.withWatermark("at", "1 hour")
    inputs = [program.rows("e", timed, keys=["k"], event_time="at", columns=["at", "v"])]
    state = [
        program.value("state", "STRING", default="'new'"),
        program.value("n", "BIGINT", default="0L"),
    ]
    moved = program.on_event(
        "e",
        program.when("state = 'new'", program.assign("state", "'open'"))
        .or_when("state = 'open' AND v % 2 = 0", program.assign("state", "'paid'"))
        .or_when("state = 'paid'", program.assign("state", "'sent'"))
        .otherwise(program.assign("state", "'new'")),
        program.assign("n", "n + 1"),
        program.start_timer("due", "at + INTERVAL 1 DAY"),
        program.emit("k", "n", "v"),
    )
    due = program.on_timer("due", program.clear_state())
    timers = [program.event_timer("due")]
    return made_of(kernel, "machine", inputs, state, timers, [moved, due])


def made_of(
    kernel: Any,
    name: str,
    inputs: list[program.Rows],
    state: list[program.Cell],
    timers: list[program.Timer],
    handlers: list[program.Handler],
) -> DataFrame:
    """A program that handles rows on arrival and emits the key and two numbers."""
    returns = {"k": "BIGINT", "n": "BIGINT", "total": "BIGINT"}
    document = program.document(
        name,
        {"k": "BIGINT"},
        inputs,
        state,
        timers,
        handlers,
        returns,
        ordered=False,
        event_time=None,
        wakes=False,
    )
    return program.frame_of(kernel, document, inputs)


class SumByRows(StatefulProcessor):
    """The running sum by Spark's rows."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("s", "n BIGINT, total BIGINT")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
        from pyspark.sql import Row

        n, total = self.state.get() or (0, 0)
        found = []
        for row in rows:
            n, total = n + 1, total + row.v
            found.append(Row(k=key[0], n=n, total=total))
        self.state.update((n, total))
        return iter(found)

    def close(self) -> None:
        """Nothing to close."""


class SumByPandas(SumByRows):
    """The running sum by pandas."""

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
        n, total = self.state.get() or (0, 0)
        for frame in rows:
            found, n, total = summed(key, frame, n, total)
            yield found
        self.state.update((n, total))


def sum_applied(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
    """The running sum by `applyInPandasWithState`."""
    n, total = state.get if state.exists else (0, 0)
    for frame in frames:
        found, n, total = summed(key, frame, n, total)
        yield found
    state.update((n, total))


def summed(key: Any, frame: Any, n: int, total: int) -> tuple[Any, int, int]:
    """A frame with the running count and sum, and both at its end."""
    import pandas as pd

    sums = total + frame["v"].cumsum()
    counts = range(n + 1, n + 1 + len(frame))
    found = pd.DataFrame({"k": key[0], "n": counts, "total": sums.to_numpy()})
    return found, n + len(frame), int(sums.iloc[-1])


def made(spark: SparkSession, folder: Path, rows: int, keys: int, batches: int) -> Path:
    """The input: keys in random order, values, instants; one file per core and batch."""
    place = folder / f"in-{rows}-{keys}-{batches}"
    if not place.exists():
        spark.range(rows).selectExpr(
            f"abs(xxhash64(id)) % {keys} AS k",
            "id AS v",
            "timestamp_millis(1767225600000 + id) AS at",
        ).repartition(CORES * batches).write.parquet(str(place))
    return place


def read(spark: SparkSession, place: Path) -> DataFrame:
    """The input as a stream, batch by batch."""
    reader = spark.readStream.schema("k BIGINT, v BIGINT, at TIMESTAMP")
    return reader.option("maxFilesPerTrigger", CORES).parquet(str(place))


class Bound(float):
    """Seconds within which a job did not finish; the rate in rows per second that it is below."""

    def __rtruediv__(self, rows: float) -> float:
        return Bound(rows / float(self))


def took(frame: DataFrame, checkpoint: Path, name: str, patience: int | None) -> float:
    """Seconds for all input; a `Bound` if the patience ran out."""
    begin = time.perf_counter()
    mode = "append" if name in ("sum", "machine") else "update"
    writer = frame.writeStream.format("noop").outputMode(mode)
    writer = writer.option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    if query.awaitTermination(patience) is False:
        query.stop()
        return Bound(time.perf_counter() - begin)
    return time.perf_counter() - begin


def number(found: float) -> str:
    """Rows per second, or the rate that they are below."""
    return f"{'<' if isinstance(found, Bound) else ''}{found:,.0f}"


def shown(found: dict[tuple[str, int], float], keys: list[int]) -> bool:
    """Print the table and the ratios; whether both goals are met."""
    names = list(dict.fromkeys(name for name, _ in found))
    print(f"\nrows a second\n{'':10}" + "".join(f"{count:>12,} keys" for count in keys))
    for name in names:
        print(f"{name:10}" + "".join(f"{number(found[name, count]):>17}" for count in keys))
    met = True
    for count, side in itertools.product(keys, ("sum", "machine")):
        native = found[side, count] / found["aggregate", count]
        line = f"{side} at {count:,} keys: {native:.2f} x the aggregate"
        met &= not (count == max(keys) and native < NATIVE)
        slower = [found[name, count] for name in PYTHON if (name, count) in found]
        if slower:
            python = found[side, count] / max(slower)
            line += f", {python:.1f} x the best of Python"
            met &= not (count == MANY and python < FASTER)
        print(line)
    return met


def session() -> SparkSession:
    """A local Spark with two cores, on RocksDB."""
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", str(CORES))
        .config("spark.sql.streaming.stateStore.providerClass", STORE)
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def tell(line: str) -> None:
    """Print the progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
