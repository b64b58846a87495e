"""Kill a running pipeline repeatedly, and count what its sinks have lost or duplicated.

    python benchmarks/chaos.py                        200 kills of every kind
    python benchmarks/chaos.py --kills 50 --seed 7    as few, or others
    python benchmarks/chaos.py --only executors --kills 10   executors of a standalone cluster
    python benchmarks/chaos.py --only disk --kills 3         fill the disk, and free it again

One source feeds four sinks: a raw copy, windows, totals that change, pairs of a join. Python and
its JVM are killed at random moments, at each step of the files sink, and while manifests, epochs
and Spark's own log are written; the job is restarted at once. At the end the sinks must hold
exactly the rows that plain Python finds in the input; otherwise the exit code is 1.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from harness import cluster, disk, series
from harness.kills import WEIGHTS
from harness.series import Report
from harness.shop import Shop

TESTS = Path(__file__).parents[1] / "tests"


def main() -> None:
    """Run what was requested, print its figures."""
    parser = argparse.ArgumentParser(description="Kill a pipeline, count lost and doubled rows.")
    parser.add_argument("--kills", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="which of them (default: 1)")
    parser.add_argument("--only", choices=[*WEIGHTS, "executors", "disk"], help="one kind")
    parser.add_argument("--check", type=int, default=50, help="compare after so many (default: 50)")
    parser.add_argument("--sqlite", action="store_true", help="no PostgreSQL, even if there is one")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")
    args = parser.parse_args()
    # # Ends child processes, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory() as temporary:
        report = run(args, args.folder or Path(temporary))
    print(f"\n{series.table(report)}")
    sys.exit(0 if report.right else 1)


def run(args: argparse.Namespace, folder: Path) -> Report:
    """Kill as requested."""
    if args.only == "executors":
        shop = Shop(folder / "shop", args.seed)
        return cluster.kill_executors(shop, folder / "cluster", args.kills, args.seed, tell)
    if args.only == "disk":
        with disk.small_disk(folder / "disk") as small:
            if small is None:
                sys.exit("a disk of its own needs the right to mount one")
            shop = Shop(folder / "shop", args.seed, data=small)
            return disk.fill_and_free(shop, small, args.kills, tell)
    with totals_server(args.sqlite) as server:
        shop = Shop(folder / "shop", args.seed, server=server)
        kinds = [args.only] * args.kills if args.only else series.chosen(args.kills, args.seed)
        return series.run(shop, kinds, args.seed, tell, args.check)


def totals_server(without: bool) -> AbstractContextManager[str | None]:
    """A PostgreSQL for the totals, where its programs are installed; its URL with the password."""
    sys.path.append(str(TESTS))
    from server import running_login, server_programs  # type: ignore[import-not-found]

    programs = server_programs()
    return nullcontext(None) if without or programs is None else running_login(programs)


def tell(line: str) -> None:
    """Print a line and flush it."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
