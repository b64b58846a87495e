"""Measure what the gate and the barriers cost, and how long a restart takes, against plain Spark.

    python benchmarks/barriers.py                 five runs of each, after one to warm up
    python benchmarks/barriers.py --runs 2 --restarts 2

One source, four queries with a sink each (`benchmarks/harness/shop.stream`), in one warm Spark and
in turn: plain queries with the same sinks but no gate; through the gate with a barrier at the end;
with a barrier every second. Many small epochs, and few big ones. What counts is the time from the
start of the queries to the end of the input, and the processor time of Python and its JVM in it.
Results must be equal. The gate may cost 3 % of the processor time; if it costs more, the exit code
is 1.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harness import lives, plain
from harness.events import events
from harness.shop import HERE, Shop
from streamc.runtime import Arguments, queries, run_script

GOAL = 1.03
SIDES = {"plain": "1 HOUR", "gate": "1 HOUR", "barriers": "1 SECOND"}
WORK = {"small epochs": (60, 12, 2), "big epochs": (10, 20_000, 1)}
"""Input files, rows of a file, and files an epoch."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a run took, in seconds: by the clock, and of the processors."""

    clock: float
    processor: float


def main() -> None:
    """Run everything, print the tables."""
    parser = argparse.ArgumentParser(description="The cost of the gate and of barriers.")
    parser.add_argument("--runs", type=int, default=5, help="measured runs (default: 5)")
    parser.add_argument("--restarts", type=int, default=5, help="of each kind (default: 5)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        costs = [cost(folder / "runs", work, args.runs) for work in WORK] if args.runs else []
        if args.restarts:
            restarts(folder / "restarts", args.restarts)
    sys.exit(1 if any(found > GOAL for found in costs) else 0)


def cost(folder: Path, work: str, runs: int) -> float:
    """Measure all sides on one kind of work; the processor time of the gate to that of plain."""
    spark = session()
    source = make_input(folder / work.replace(" ", "-"), work)
    taken: dict[str, list[Taken]] = {side: [] for side in SIDES}
    for run in range(-1, runs):
        # Whoever comes first or last may find another machine: take turns at that too.
        order = list(SIDES)[run % 3 :] + list(SIDES)[: run % 3]
        for side in order:
            # A folder of its own: Spark looks after the states of earlier runs for a while.
            place = folder / f"{work.replace(' ', '-')}-{run}-{side}"
            found = measure(spark, place, source, side, WORK[work][2])
            tell(f"{work}, run {run}, {side}: {found.clock:.1f} s, {found.processor:.1f} s")
            if run >= 0:
                taken[side].append(found)
    print(f"\n{work}: medians of {runs} runs, in seconds\n")
    print("side         clock  processors")
    for side, all_of in taken.items():
        print(f"{side:9} {middle(all_of, 'clock'):8.2f} {middle(all_of, 'processor'):11.2f}")
    gate = ratio(taken, "gate", "plain")
    print(f"\ngate / plain:    clock {gate[0]:.3f}, processors {gate[1]:.3f} (goal: {GOAL})")
    barriers = ratio(taken, "barriers", "gate")
    print(f"barriers / gate: clock {barriers[0]:.3f}, processors {barriers[1]:.3f}", flush=True)
    return gate[1]


def make_input(folder: Path, work: str) -> Path:
    """The files that all runs of one kind of work read."""
    files, rows, _ = WORK[work]
    shop = Shop(folder)
    for number in range(files):
        shop.writer.write(events(0, number, rows))
    shop.writer.close()
    return shop.writer.folder


def measure(spark: Any, folder: Path, source: Path, side: str, files: int) -> Taken:
    """Run a side once, from nothing."""
    shop = Shop(folder, files_per_epoch=files, every=SIDES[side])
    arguments = Arguments(True, {**shop.variables, "in": str(source)}, state=str(shop.state))
    run = queries.Queries.run
    taken: list[Taken] = []

    def timed(self: Any, stop: Any) -> Any:
        begun = (time.perf_counter(), processor(spark))
        result = run(self, stop)
        ended = (time.perf_counter(), processor(spark))
        taken.append(Taken(ended[0] - begun[0], ended[1] - begun[1]))
        return result

    with (
        plain.without_gate() if side == "plain" else nullcontext(),
        patch.object(queries.Queries, "run", timed),
        patch.dict(os.environ, shop.environment),
    ):
        ended = run_script(shop.script, arguments, spark=spark)
    if ended.exit_code != 0:
        sys.exit("\n".join(failure.render() for failure in ended.failures))
    if shop.found() != shop.right(source):
        sys.exit(f"{side} has other rows than plain Python: {shop.differences(source)}")
    return taken[0]


def restarts(folder: Path, count: int) -> None:
    """Kill the job and start it again, with and without the gate; time to the next batch."""
    shops = {side: Shop(folder / side, every="2 SECONDS") for side in ("plain", "gate")}
    taken: dict[str, list[float]] = {side: [] for side in shops}
    for run in range(count + 1):
        for side, shop in sorted(shops.items(), reverse=run % 2 == 1):
            submit = [sys.executable, str(HERE / "plain.py")] if side == "plain" else []
            shop.writer.add(12)
            life = lives.start(shop, submit=submit)
            if not lives.await_commit(shop, life, 120):
                sys.exit(f"{side} has not come to a batch:\n{life.said()}")
            if run:  # the first start is no restart
                taken[side].append(time.monotonic() - life.started)
            life.wait(2)
            life.kill_all()
    print(f"\nfrom the start after a kill to the first batch: {count} restarts, in seconds\n")
    print("side       median     min     max")
    for side, times in taken.items():
        row = (statistics.median(times), min(times), max(times))
        print("{:9} {:7.1f} {:7.1f} {:7.1f}".format(side, *row))
    gate, spark = (statistics.median(taken[side]) for side in ("gate", "plain"))
    print(f"\ngate / plain: {gate / spark:.2f}")


def tell(line: str) -> None:
    """Show how far it is."""
    print(line, file=sys.stderr, flush=True)


def session() -> Any:
    """A local Spark with two cores and no window into it."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    spark = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def processor(spark: Any) -> float:
    """Seconds of the processors that this process and its JVM have taken."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()


def middle(taken: list[Taken], what: str) -> float:
    """The median of one of the times."""
    times: list[float] = [getattr(one, what) for one in taken]
    return statistics.median(times)


def ratio(taken: Mapping[str, list[Taken]], one: str, other: str) -> tuple[float, float]:
    """The medians of one side over those of another: clock, processors."""

    def of(what: str) -> float:
        return middle(taken[one], what) / middle(taken[other], what)

    return of("clock"), of("processor")


if __name__ == "__main__":
    main()
