"""What an explanation says of time is what Spark does: an instant earlier it does not.

One job with a query for each claim and each side of its boundary. A file is a batch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from run_case import FIRST_ARRIVAL
from streamc.compiler.operators.clocks import timings
from streamc.compiler.operators.facts.instants import EXAMPLE
from streamc.dsl.reports.render import render
from streamc.runtime import Arguments, Result, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from streamc.compiler.model.graph import OperatorGraph

pytestmark = pytest.mark.spark
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE, MILLISECOND = 60_000_000, 1_000
SOURCE = """
CREATE SOURCE {name} (
  k  STRING,
  at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL {delay} SECONDS
) WITH (connector = 'files', path = '${{in}}/{name}', format = 'json', max_files_per_trigger = 1);
"""
HEAD = """---
variables: {in: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 1}
---
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """An operator reaches an instant; ``rows`` of key ``a`` come out of the query then, not before.

    ``query`` reads ``{a}``, and ``{b}`` if there are two sources; what comes first and last is
    minutes behind the example's instant, for rows of key ``a``. ``passes`` says that the watermark
    must pass the instant. ``operator`` is the id behind the stream's, if it is another.
    """

    query: str
    reached: int
    before: int
    after: int
    first: Mapping[str, tuple[float, ...]]
    last: Mapping[str, tuple[float, ...]]
    passes: bool = False
    fillers: int = 1
    operator: str = ""


CLAIMS = {
    "tumble": Claim(
        "SELECT k, window_start FROM TUMBLE({a}, at, INTERVAL 1 MINUTE) GROUP BY k, window_start",
        reached=1,
        before=0,
        after=1,
        first={"a": (0.5,)},
        last={},
    ),
    "hop": Claim(
        "SELECT k, window_start FROM HOP({a}, at, INTERVAL 5 MINUTES, INTERVAL 10 MINUTES) "
        "GROUP BY k, window_start",
        reached=5,
        before=0,
        after=1,
        first={"a": (0,)},
        last={},
    ),
    "session": Claim(
        "SELECT k, window_start FROM SESSION({a} PARTITION BY k, at, INTERVAL 10 MINUTES) "
        "GROUP BY k, window_start",
        reached=10,
        before=0,
        after=1,
        first={"a": (0,)},
        last={},
    ),
    # A second row of a key comes out once the first is forgotten, a batch after the boundary.
    "dedup": Claim(
        "SELECT DISTINCT ON (k) k FROM {a}",
        reached=0,
        before=1,
        after=2,
        first={"a": (-0.5,)},
        last={"a": (60,)},
        fillers=2,
    ),
    "join": Claim(
        "SELECT l.k FROM {a} AS l LEFT JOIN {b} AS r "
        "ON r.k = l.k AND r.at BETWEEN l.at AND l.at + INTERVAL 10 MINUTES",
        reached=10,
        before=0,
        after=1,
        first={"a": (0,)},
        last={},
        passes=True,
    ),
    # A window over joined rows: the bound of the join is added.
    "chain": Claim(
        "SELECT k, window_start FROM TUMBLE((SELECT l.k, l.at FROM {a} AS l JOIN {b} AS r "
        "ON r.k = l.k AND r.at BETWEEN l.at AND l.at + INTERVAL 10 MINUTES) AS joined, at, "
        "INTERVAL 1 MINUTE) GROUP BY k, window_start",
        reached=1,
        before=0,
        after=1,
        first={"a": (0.5,), "b": (0.6,)},
        last={},
    ),
    # Rows that arrive in the batch in which a window comes out still count, later ones do not.
    "late": Claim(
        "SELECT k, window_start, MAX(at) AS latest FROM TUMBLE({a}, at, INTERVAL 1 MINUTE) "
        "GROUP BY k, window_start",
        reached=1,
        before=0,
        after=1,
        first={"a": (0.1,)},
        last={"a": (0.5, 0.9)},
    ),
}


@pytest.mark.long
def test_what_is_said_of_time(spark: SparkSession, tmp_path: Path) -> None:
    result = compiled_text(HEAD + "".join(map(statements, CLAIMS)), "claims.stream")
    assert not result.diagnostics.has_errors, render([result.diagnostics])
    assert result.graph is not None
    for name in CLAIMS:
        for side in ("before", "after"):
            write_rows(tmp_path / "in", name, side, result.graph)
    out = run(written(result, tmp_path), tmp_path, spark)
    got = {sink: [row for row in rows if row.k == "a"] for sink, rows in out.rows.items()}
    counts = {
        name: (len(got.get(f"{name}_before_out", ())), len(got.get(f"{name}_after_out", ())))
        for name in CLAIMS
    }
    assert counts == {name: (claim.before, claim.after) for name, claim in CLAIMS.items()}
    (late,) = got["late_after_out"]
    assert late.latest == datetime(2026, 1, 1, 10, 0, 30)


def statements(name: str) -> str:
    """Return the sources, the stream and the sink of a claim, once for each side."""
    found = ""
    for side in ("before", "after"):
        sources = {one: f"{name}_{side}_{one}" for one in ("a", "b")}
        query = CLAIMS[name].query.format(**sources)
        for one, delay in (("a", 30), ("b", 90)):
            if sources[one] in query:
                found += SOURCE.format(name=sources[one], delay=delay)
        found += f"CREATE STREAM {name}_{side} AS {query};\n"
        found += f"CREATE SINK {name}_{side}_out FROM {name}_{side} WITH (connector = 'memory');\n"
    return found


def write_rows(root: Path, name: str, side: str, graph: OperatorGraph) -> None:
    """Write the files of a claim: its first rows, those that move the watermark, its last rows."""
    claim = CLAIMS[name]
    relation = f"{name}_{side}"
    own = [s for r, s in graph.stateful() if r.stream == relation and r.name == relation]
    (timing,) = timings(graph, own[-1])
    is_open = claim.passes or timing.lag.is_open
    for clock in timing.clocks:
        assert clock.source is not None
        one = clock.source[-1]
        boundary = EXAMPLE + claim.reached * MINUTE + timing.lag.micros + clock.delay
        boundary += (side == "after") * MILLISECOND if is_open else (side == "after") - 1
        firsts = claim.first.get(one, ())
        files = [[("a", EXAMPLE + round(minutes * MINUTE)) for minutes in firsts]]
        files += [[("z", boundary)]] * claim.fillers
        files += [[("a", EXAMPLE + round(m * MINUTE))] for m in claim.last.get(one, ())]
        for number, rows in enumerate(files):
            write_file(root / clock.source / f"{number:03d}.json", number, rows)


def write_file(path: Path, number: int, rows: list[tuple[str, int]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f'{{"k": "{key}", "at": "{(EPOCH + timedelta(microseconds=at)).isoformat()}"}}\n'
        for key, at in rows
    ]
    path.write_text("".join(lines), encoding="utf-8")
    os.utime(path, (FIRST_ARRIVAL + number, FIRST_ARRIVAL + number))


def run(script: Path, root: Path, spark: SparkSession) -> Result:
    result = run_script(
        script,
        Arguments(
            until_caught_up=True,
            variables={"in": str(root / "in")},
            state=str(root / "state"),
        ),
        spark=spark,
    )
    assert result.exit_code == 0, [failure.render() for failure in result.failures]
    return result
