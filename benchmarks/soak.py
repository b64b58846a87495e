"""Run a pipeline on tiny epochs for long, and report what stalls, is lost, duplicated, or grows.

    python benchmarks/soak.py                                    30 minutes of all parts
    python benchmarks/soak.py --pipeline small --every 0.3 5     30 minutes with each cadence
    python benchmarks/soak.py --pipeline swift --interval 0.05   20 files a second
    python benchmarks/soak.py --minutes 10 --actions stop terminate savepoint

A file of 200 rows arrives about each half second. Every few seconds a sample of rates, lag, memory,
threads, descriptors and files is added to `samples.jsonl`. At the end each sink is compared with
plain Python, row by row; the exit code is 1 if a row is lost or duplicated, if no epoch opened for
long although there was input, or if something that should be flat has grown in the second half.
"""

import argparse
import json
import random
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from soaking import report
from soaking.pipeline import PIPELINES, Policy
from soaking.soak import Soak, Wish

TESTS = Path(__file__).parents[1] / "tests"


def main() -> None:
    """Soak with one cadence after the other, print the figures of each."""
    args = _arguments()
    # # Ends child processes, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    right = True
    with tempfile.TemporaryDirectory() as temporary, servers(args, Path(temporary)) as extra:
        for number, every in enumerate(args.every):
            folder = (args.folder or Path(temporary)) / f"soak-{number}"
            wish = _wish(args, every, folder, args.seed + number, extra)
            tell(f"{', '.join(wish.parts)}; {wish.policy.shown}; seed {wish.seed}")
            outcome = Soak(wish, tell).run()
            tell(f"\n{report.table(outcome)}\n")
            right = right and outcome.right
    sys.exit(0 if right else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run a pipeline on tiny epochs for long.")
    parser.add_argument("--pipeline", choices=PIPELINES, default="full", help="default: full")
    parser.add_argument("--minutes", type=float, default=30, help="of each cadence (default: 30)")
    parser.add_argument(
        "--every",
        type=_every,
        nargs="+",
        default=[1.0],
        metavar="SECONDS",
        help="from one barrier to the next, or `default` for no CHECKPOINT (default: 1)",
    )
    parser.add_argument("--retain", type=int, choices=[1, 3, 5], help="default: by the seed")
    parser.add_argument("--in-flight", type=int, choices=[1, 3], help="default: by the seed")
    parser.add_argument("--trigger", type=float, metavar="SECONDS", help="default: none")
    parser.add_argument("--interval", type=float, default=0.5, help="from file to file (0.5 s)")
    parser.add_argument("--rows", type=int, default=200, help="of a file (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of rows, intervals, actions")
    parser.add_argument(
        "--actions", nargs="+", default=[], choices=["stop", "terminate", "savepoint"]
    )
    parser.add_argument("--delays", type=json.loads, default={}, help='JSON: {"step": seconds}')
    parser.add_argument("--patience", type=float, default=120, help="until it is a stall (120 s)")
    parser.add_argument("--kafka", action="store_true", help="with a broker, which Maven fetches")
    parser.add_argument("--no-postgres", action="store_true", help="even if it is installed")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")
    args = parser.parse_args()
    if args.kafka and args.pipeline != "full":
        parser.error("`--kafka` is a part of the full pipeline")
    return args


def _every(text: str) -> float | None:
    return None if text == "default" else float(text)


def _wish(
    args: argparse.Namespace, every: float | None, folder: Path, seed: int, extra: dict[str, str]
) -> Wish:
    rng = random.Random(f"policy {seed}")
    retain, in_flight = rng.choice((1, 3, 5)), rng.choice((1, 3))
    return Wish(
        folder=folder,
        parts=(*PIPELINES[args.pipeline], *extra),
        policy=Policy(every, args.retain or retain, args.trigger, args.in_flight or in_flight),
        seed=seed,
        seconds=args.minutes * 60,
        interval=args.interval,
        rows=args.rows,
        patience=args.patience,
        actions=args.actions,
        delays=args.delays,
        server=extra.get("postgres"),
        brokers=extra.get("kafka"),
    )


@contextmanager
def servers(args: argparse.Namespace, folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of the servers that parts of a full pipeline write to, by the part."""
    sys.path.append(str(TESTS))
    from broker import broker_jars, running_broker  # type: ignore[import-not-found]
    from server import running_login, server_programs  # type: ignore[import-not-found]

    with ExitStack() as stack:
        found = {}
        programs = None if args.no_postgres else server_programs()
        if args.pipeline == "full" and programs is not None:
            found["postgres"] = stack.enter_context(running_login(programs))
        if args.kafka:
            jars = broker_jars()
            if jars is None:
                sys.exit("a broker needs Maven and its repository")
            found["kafka"] = stack.enter_context(running_broker(jars, folder))
            make_topic(found["kafka"], "orders")
        yield found


def make_topic(brokers: str, name: str) -> None:
    """Has a broker create a topic, as it does for a client that requests the topic's metadata."""
    host, _, port = brokers.rpartition(":")
    topic = name.encode()
    # # Version 4 of the request Metadata: one topic, which may be created.
    body = struct.pack(">hhihih", 3, 4, 1, 0, 1, len(topic)) + topic + b"\x01"
    for _ in range(2):
        with socket.create_connection((host, int(port)), timeout=30) as broker:
            broker.sendall(struct.pack(">i", len(body)) + body)
            broker.recv(4096)
        time.sleep(1)


def tell(line: str) -> None:
    """Print a line and flush it."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
