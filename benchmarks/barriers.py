"""Measure what the gate and the barriers cost, and how long a restart takes, against plain Spark.

    python benchmarks/barriers.py                 three runs of each, after one to warm up
    python benchmarks/barriers.py --runs 1 --restarts 2

One source, four queries with a sink each (`benchmarks/harness/shop.stream`), in one warm Spark and
in turn: plain queries with the same sinks but no gate; through the gate with a barrier at the end;
with a barrier every few seconds. Many small epochs, and few big ones. What counts is the time from
the start of the queries to the end of the input, and the processor time of Python and its JVM in
it. Results must be equal.

A run through the gate has three epochs without input: the empty one at its beginning, the one that
settles, and the barrier. So plain and gate run over a short and a long input, and the cost of an
epoch is the difference between the two divided by the epochs between them; the rest is paid once
per run. The gate may cost 3 % of the processor time of an epoch; otherwise the exit code is 1.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harness import lives, plain
from harness.events import events
from harness.shop import HERE, Shop
from streamc.runtime import Arguments, run_script
from streamc.runtime.execution import queries

GOAL = 1.03
SIDES = {"plain": "1 HOUR", "gate": "1 HOUR", "barriers": "5 SECONDS"}
WHAT = ("clock", "processors")


@dataclass(frozen=True, slots=True)
class Work:
    """Epochs of the short and of the long input, the files of one and the rows of a file."""

    name: str
    short: int
    long: int
    files: int
    rows: int


WORK = (Work("small epochs", 10, 40, 2, 12), Work("big epochs", 5, 25, 1, 20_000))


@dataclass(frozen=True, slots=True)
class Taken:
    """What a run took, in seconds: by the clock, and of the processors."""

    clock: float
    processors: float


def main() -> None:
    """Run everything, print the tables."""
    parser = argparse.ArgumentParser(description="The cost of the gate and of barriers.")
    parser.add_argument("--runs", type=int, default=3, help="measured runs (default: 3)")
    parser.add_argument("--restarts", type=int, default=5, help="of each kind (default: 5)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        costs = [cost(folder / "runs", work, args.runs) for work in WORK] if args.runs else []
        if args.restarts:
            restarts(folder / "restarts", args.restarts)
    sys.exit(1 if any(found > GOAL for found in costs) else 0)


def cost(folder: Path, work: Work, runs: int) -> float:
    """Measure all sides on one kind of work; an epoch's processor time, the gate's over plain's."""
    spark = session()
    name = work.name.replace(" ", "-")
    sources = {n: make_input(folder / f"{name}-{n}", work, n) for n in (work.short, work.long)}
    taken: dict[tuple[str, int], list[Taken]] = {}
    for run in range(-1, runs):
        # # The first or last of them may find another machine: rotate that too.
        order = list(SIDES)[run % 3 :] + list(SIDES)[: run % 3]
        for side in order:
            lengths = (work.long,) if side == "barriers" else (work.short, work.long)
            for epochs in lengths if run >= 0 else (work.short,):
                # # A folder of its own: Spark maintains the states of earlier runs for a while.
                place = folder / f"{name}-{run}-{side}-{epochs}"
                found = measure(spark, place, sources[epochs], side, work.files)
                took = f"{found.clock:.1f} s, {found.processors:.1f} s"
                tell(f"{work.name}, run {run}, {side}, {epochs} epochs: {took}")
                if run >= 0:
                    taken.setdefault((side, epochs), []).append(found)
    middle = {key: median(found) for key, found in taken.items()}
    print(f"\n{work.name}: medians of {runs} runs, in seconds\n")
    print("side      epochs     clock  processors")
    for (side, epochs), found in sorted(middle.items()):
        print(f"{side:9} {epochs:6} {found.clock:9.2f} {found.processors:11.2f}")
    return compared(middle, work)


def compared(middle: Mapping[tuple[str, int], Taken], work: Work) -> float:
    """Print the gate against plain; returns the ratio of an epoch's processor time."""
    more = work.long - work.short
    ratios: dict[str, float] = {}
    for what in WHAT:
        found = {key: getattr(taken, what) for key, taken in middle.items()}
        epoch, once = {}, {}
        for side in ("plain", "gate"):
            epoch[side] = (found[side, work.long] - found[side, work.short]) / more
            once[side] = found[side, work.short] - epoch[side] * work.short
        ratios[what] = epoch["gate"] / epoch["plain"]
        whole = found["gate", work.long] / found["plain", work.long]
        barriers = found["barriers", work.long] / found["gate", work.long]
        print(f"\n{what}:")
        print(f"  an epoch       plain {epoch['plain']:.3f} s, gate {epoch['gate']:.3f} s")
        print(f"  once a run     plain {once['plain']:.2f} s, gate {once['gate']:.2f} s")
        print(f"  gate / plain   an epoch {ratios[what]:.3f}, the long run {whole:.3f}")
        print(f"  barriers every {SIDES['barriers'].lower()} / gate: {barriers:.3f}", flush=True)
    print(f"\ngoal: an epoch's processors gate / plain at most {GOAL}", flush=True)
    return ratios["processors"]


def make_input(folder: Path, work: Work, epochs: int) -> Path:
    """The files that all runs of one kind of work and length read."""
    shop = Shop(folder)
    for number in range(epochs * work.files):
        shop.writer.write(events(0, number, work.rows))
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
    """Print the progress."""
    print(line, file=sys.stderr, flush=True)


def session() -> Any:
    """A local Spark with two cores and no web interface."""
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
    """Processor seconds that this process and its JVM have used."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()


def median(taken: Sequence[Taken]) -> Taken:
    """The medians of both times."""
    return Taken(*(statistics.median(getattr(one, what) for one in taken) for what in WHAT))


if __name__ == "__main__":
    main()
