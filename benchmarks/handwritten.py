"""Measure the emitted flights job against the same job written by hand in PySpark.

    python benchmarks/handwritten.py                  the year 2013, one warm-up and five runs each
    python benchmarks/handwritten.py --data specs/flights/data --runs 2

Both run as whole processes on the same input, alternately and from an empty state; what counts is
the time from start to end, JVM included. The results must be equal, row by row. The ratio is the
throughput of the emitted job relative to the hand-written one; below the goal the exit code is 1.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "specs" / "flights" / "flights.stream"
RESULTS = ("departures", "flight_weather", "aircraft", "worst_routes")
GOAL = 0.97

Job = Callable[[Path, Path], list[str]]
"""From the input's folder and an empty one to the arguments of a Python process."""


def main() -> None:
    """Run both jobs in turn, print the times and the ratio."""
    parser = argparse.ArgumentParser(description="The emitted flights job against a hand-written.")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each (default: 5)")
    parser.add_argument("--warm-up", type=int, default=1, help="runs before these (default: 1)")
    parser.add_argument("--data", type=Path, help="folder of flights/ and weather/; default: 2013")
    args = parser.parse_args()
    if args.runs < 1 or args.warm_up < 0:
        parser.error("--runs must be at least 1, --warm-up at least 0")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        ratio = measure(args.data or year(work), work, args.runs, args.warm_up)
    sys.exit(0 if ratio >= GOAL else 1)


def measure(data: Path, work: Path, runs: int, warm_up: int) -> float:
    """Return the median time by hand over the median time of the emitted job."""
    jobs: dict[str, Job] = {"emitted": emitted(work), "by hand": by_hand}
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for run in range(warm_up + runs):
        # # The second may find warmer caches: alternate that too.
        for name in sorted(jobs, reverse=run % 2 == 1):
            seconds = timed(jobs[name], data, work / name)
            print(f"{name:8} {seconds:7.1f} s{'   (warm-up)' if run < warm_up else ''}", flush=True)
            if run >= warm_up:
                times[name].append(seconds)
        for result in RESULTS:
            compare(result, *(work / name / "out" / result for name in jobs))
    print("\nThe results of both are equal in every run.\n")
    print("job       median     min     max")
    for name, taken in times.items():
        print(f"{name:8} {statistics.median(taken):7.1f} {min(taken):7.1f} {max(taken):7.1f}")
    ratio = statistics.median(times["by hand"]) / statistics.median(times["emitted"])
    print(f"\nby hand / emitted: {ratio:.3f} (goal: at least {GOAL})")
    return ratio


def year(work: Path) -> Path:
    """Write the flights and the weather of 2013."""
    data = work / "year"
    call([str(SPEC.with_name("make_slice.py")), "--year", "--out", str(data)])
    return data


def emitted(work: Path) -> Job:
    """Compile the spec; the job is the emitted script."""
    streamc = Path(sys.executable).with_name("streamc")
    subprocess.run([streamc, "compile", SPEC, "-o", work], check=True, stdout=subprocess.DEVNULL)

    def job(data: Path, to: Path) -> list[str]:
        return [
            str(work / f"{SPEC.stem}.py"),
            *("--until-caught-up", "--state", str(to / "state")),
            *("--var", f"flights={data / 'flights'}", "--var", f"weather={data / 'weather'}"),
            *("--var", f"out={to / 'out'}"),
        ]

    return job


def by_hand(data: Path, to: Path) -> list[str]:
    """The hand-written job."""
    return [
        str(ROOT / "benchmarks" / "flights_by_hand.py"),
        *("--flights", str(data / "flights"), "--weather", str(data / "weather")),
        *("--out", str(to / "out"), "--state", str(to / "state")),
    ]


def timed(job: Job, data: Path, to: Path) -> float:
    """Run the job from an empty state; return the seconds that it took."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    arguments = job(data.resolve(), to)
    begin = time.perf_counter()
    call(arguments)
    return time.perf_counter() - begin


def call(arguments: list[str]) -> None:
    """Run a Python script; if it fails, show its output and end."""
    done = subprocess.run(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{arguments[0]} failed")


def compare(result: str, one: Path, other: Path) -> None:
    """End unless two folders of Parquet hold the same rows, in any order."""
    left, right = (rows(folder) for folder in (one, other))
    if not left.equals(right):
        sys.exit(f"{result} differs: {left.num_rows} rows in {one}, {right.num_rows} in {other}")


def rows(folder: Path) -> pa.Table:
    """All rows, sorted by all columns."""
    table = parquet.read_table(folder)
    return table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()


if __name__ == "__main__":
    main()
