"""Measure how long `streamc check` and `streamc compile` take on a spec of 200 statements.

    python benchmarks/compile.py              one warm-up and ten runs of each
    python benchmarks/compile.py --show       print the spec instead

Each run is a whole process, start of Python and imports included; what counts is its processor time
(user and system), which a busy machine disturbs less than elapsed time. Python keeps the bytecode
of all modules, as for an installed package, whatever the environment says. Above the goal the exit
code is 1.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

STATEMENTS = 200
GROUPS = 11
GOAL = 0.5

HEAD = """\
---
pipeline: shop
description: Many small pipelines in one, as an old and busy project has them.
variables: {input: data, out: out}
spark: {spark.sql.shuffle.partitions: 8}
profiles:
  prod: {state: s3a://bucket/shop, variables: {input: s3a://bucket/in, out: s3a://bucket/out}}
---

CHECKPOINT EVERY INTERVAL 30 SECONDS RETAIN 5 TIMEOUT INTERVAL 2 MINUTES;

-- Read by every group.
CREATE SOURCE visits (
  visitor    STRING NOT NULL,
  page       STRING,
  campaign   STRING,
  visited_at TIMESTAMP NOT NULL,
  WATERMARK FOR visited_at AS visited_at - INTERVAL 2 MINUTES
) WITH (connector = 'files', path = '${input}/visits', format = 'json');
"""

GROUP = """
-- Shop %(n)s.
CREATE SOURCE orders_%(n)s (
  order_id   STRING NOT NULL,
  customer   STRING NOT NULL,
  amount     DECIMAL(12, 2),
  quantity   INT,
  country    STRING,
  address    STRUCT<city STRING, zip STRING>,
  ordered_at TIMESTAMP NOT NULL,
  cents      AS CAST(amount * 100 AS BIGINT),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = '${input}/orders_%(n)s', format = 'json');

CREATE SOURCE shipments_%(n)s (
  order_id   STRING NOT NULL,
  carrier    STRING,
  shipped_at TIMESTAMP NOT NULL,
  WATERMARK FOR shipped_at AS shipped_at - INTERVAL 5 MINUTES
) WITH (connector = 'files', path = '${input}/shipments_%(n)s', format = 'csv', delimiter = ';');

CREATE STREAM once_%(n)s AS
  SELECT DISTINCT ON (order_id) order_id, customer, amount, quantity, country, address, ordered_at
  FROM orders_%(n)s;

CREATE STREAM paid_%(n)s AS
  SELECT
    order_id,
    customer,
    COALESCE(UPPER(TRIM(country)), '?') AS country,
    CASE WHEN amount >= 100 THEN 'large' WHEN amount BETWEEN 10 AND 100 THEN 'mid' ELSE 'small' END
      AS band,
    cents * 2 + 1 AS score,
    ordered_at
  FROM orders_%(n)s
  WHERE amount > 0 AND country IN ('NO', 'SE', 'DK') OR address.city LIKE 'O%%';

CREATE STREAM per_minute_%(n)s AS
  SELECT
    country,
    window_time,
    SUM(amount) AS total,
    COUNT(*) AS orders,
    AVG(CASE WHEN country = 'NO' THEN amount ELSE 0 END) AS mean,
    COUNT(*) FILTER (WHERE quantity > 3) / COUNT(*) AS bulk_share
  FROM TUMBLE(once_%(n)s, ordered_at, INTERVAL 1 MINUTE)
  GROUP BY country, window_time
  HAVING COUNT(*) > 3 AND MAX(amount) BETWEEN 3 AND 4000;

CREATE STREAM per_hour_%(n)s AS
  SELECT country, window_start, SUM(total) AS total, MAX(orders) AS busiest
  FROM TUMBLE(per_minute_%(n)s, window_time, INTERVAL 1 HOUR)
  GROUP BY country, window_start;

CREATE STREAM sliding_%(n)s AS
  SELECT band, window_end, COUNT(DISTINCT customer) AS customers, STDDEV_SAMP(score) AS spread
  FROM HOP(paid_%(n)s, ordered_at, INTERVAL 5 MINUTES, INTERVAL 1 HOUR)
  GROUP BY band, window_end;

CREATE STREAM sessions_%(n)s AS
  SELECT customer, window_start, window_end, COUNT(*) AS orders, SUM(amount) AS total
  FROM SESSION(orders_%(n)s PARTITION BY customer, ordered_at, INTERVAL 30 MINUTES)
  GROUP BY customer, window_start, window_end;

CREATE STREAM shipped_%(n)s AS
  SELECT o.order_id, o.customer, o.amount, s.carrier, s.shipped_at - o.ordered_at AS took
  FROM orders_%(n)s AS o
  LEFT JOIN shipments_%(n)s AS s
    ON s.order_id = o.order_id
    AND s.shipped_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL 2 DAYS;

CREATE STREAM viewed_%(n)s AS
  SELECT p.customer, v.campaign, p.ordered_at
  FROM paid_%(n)s AS p
  JOIN visits AS v
    ON v.visitor = p.customer
    AND p.ordered_at BETWEEN v.visited_at AND v.visited_at + INTERVAL 1 HOUR
  WHERE v.campaign IS NOT NULL;

CREATE STREAM events_%(n)s AS
  SELECT customer, 'paid' AS kind, ordered_at AS at FROM paid_%(n)s
  UNION ALL
  SELECT customer, 'viewed' AS kind, ordered_at AS at FROM viewed_%(n)s;

CREATE STREAM best_%(n)s AS
  WITH spent AS (
    SELECT customer, window_start, window_time, SUM(amount) AS total
    FROM TUMBLE(once_%(n)s, ordered_at, INTERVAL 1 DAY)
    GROUP BY customer, window_start, window_time
  )
  SELECT window_start, customer, total
  FROM spent
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY total DESC, customer) <= 10;
"""

SINK = """
CREATE SINK %(stream)s_out FROM %(stream)s
  WITH (connector = 'files', path = '${out}/%(stream)s', format = 'parquet');
"""

SINKS = ("per_hour", "sliding", "sessions", "shipped", "events", "best")


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds that a process took: of processor time, and elapsed."""

    processor: float
    clock: float


def main() -> None:
    """Run both commands, print their times."""
    parser = argparse.ArgumentParser(description="How long check and compile take.")
    parser.add_argument("--runs", type=int, default=10, help="measured runs (default: 10)")
    parser.add_argument("--show", action="store_true", help="print the spec, measure nothing")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("--runs must be at least 1")
    if args.show:
        print(spec(), end="")
        return
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if measure(Path(folder), args.runs) <= GOAL else 1)


def spec() -> str:
    """Return the spec: the same text in every run."""
    groups = [
        GROUP % {"n": n} + "".join(SINK % {"stream": f"{sink}_{n}"} for sink in SINKS)
        for n in range(1, GROUPS + 1)
    ]
    text = HEAD + "".join(groups)
    assert text.count(";\n") == STATEMENTS
    return text


def measure(folder: Path, runs: int) -> float:
    """Print the times of each command; return the largest median of processor time."""
    path = folder / "shop.stream"
    path.write_text(spec(), encoding="utf-8")
    commands = {
        "check": ["check", str(path)],
        "compile": ["compile", str(path), "-o", str(folder / "build")],
    }
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{STATEMENTS} statements, {len(spec().splitlines())} lines; {runs} runs; seconds\n")
    print("command    processor: min  median     max    clock: min  median     max")
    medians = []
    for name, arguments in commands.items():
        timed(arguments, environment)  # writes the bytecode
        taken = [timed(arguments, environment) for _ in range(runs)]
        processor = [run.processor for run in taken]
        print(f"{name:10} {summary(processor)}     {summary([run.clock for run in taken])}")
        medians.append(statistics.median(processor))
    print(f"\nslower median: {max(medians):.3f} s of processor time (goal: at most {GOAL})")
    return max(medians)


def timed(arguments: list[str], environment: dict[str, str]) -> Run:
    """Run the command line once, as a separate process; exit if it reports anything."""
    streamc = Path(sys.executable).with_name("streamc")
    begin = time.perf_counter()
    process = os.posix_spawn(
        streamc,
        [str(streamc), *arguments],
        environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(process, 0)
    clock = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"streamc {arguments[0]} failed")
    return Run(usage.ru_utime + usage.ru_stime, clock)


def summary(seconds: list[float]) -> str:
    """Return the least, the median and the most."""
    found = (min(seconds), statistics.median(seconds), max(seconds))
    return "  ".join(f"{value:6.3f}" for value in found)


if __name__ == "__main__":
    main()
