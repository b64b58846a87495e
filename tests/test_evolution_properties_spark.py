"""A random aggregate by windows, an edit of it, a cut anywhere: as if it had always been that way.

The edits are those that are exact: keys dropped, windows of a multiple, aggregates removed, derived
or of a wider type. What had come out before the cut is gone; of all else the new version gives what
plain Python makes of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, plan_in, written
from hypothesis import given, settings
from hypothesis import strategies as st
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.text import plan_text
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.stepping.runs import step_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
T0 = datetime(2026, 1, 1, tzinfo=UTC)
DELAY = 30
KEYS = ("card", "shop")
FUNCTIONS: Mapping[str, Callable[[Sequence[int]], Any]] = {
    "SUM": lambda given: sum(given) if given else None,
    "COUNT": len,
    "AVG": lambda given: sum(given) / len(given) if given else None,
    "MIN": lambda given: min(given, default=None),
    "MAX": lambda given: max(given, default=None),
}
FROM = {"SUM": ("SUM",), "COUNT": ("COUNT",), "MIN": ("MIN",), "MAX": ("MAX",)}
"""What an aggregate is had from; an average from itself, or from a sum and a count."""


@dataclass(frozen=True)
class Row:
    card: str
    shop: str
    amount: int | None
    second: int

    @property
    def line(self) -> str:
        at = (T0 + timedelta(seconds=self.second)).isoformat()
        held = {"card": self.card, "shop": self.shop, "amount": self.amount, "at": at}
        return json.dumps(held) + "\n"


@dataclass(frozen=True)
class Version:
    """Keys, the length of windows in seconds, aggregates, and the type of what they take."""

    keys: tuple[str, ...]
    window: int
    functions: tuple[str, ...]
    type: str

    def spec(self, number: int) -> str:
        made = ", ".join(f"{one}(amount) AS {one.lower()}" for one in self.functions)
        keys = ", ".join((*self.keys, "window_start"))
        return f"""---
pipeline: spend
version: {number}
---
CREATE SOURCE payments (card STRING, shop STRING, amount {self.type}, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL {DELAY} SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS SELECT {keys}, {made}
  FROM TUMBLE(payments, at, INTERVAL {self.window} SECONDS) GROUP BY {keys};
CREATE SINK out FROM spend WITH (connector = 'memory');
"""

    def start(self, row: Row) -> int:
        return row.second // self.window * self.window

    def groups(self, rows: Sequence[Row]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """What all windows over some rows hold."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for row in rows:
            key = (*(getattr(row, key) for key in self.keys), self.start(row))
            found.setdefault(key, []).extend([] if row.amount is None else [row.amount])
        return {
            key: tuple(FUNCTIONS[one](held) for one in self.functions)
            for key, held in found.items()
        }


@st.composite
def versions(draw: st.DrawFn) -> tuple[Version, Version]:
    """A version and an edit of it that loses nothing."""
    window = draw(st.sampled_from([30, 60]))
    functions = tuple(draw(st.lists(st.sampled_from([*FUNCTIONS]), min_size=1, unique=True)))
    old = Version(KEYS, window, functions, "INT")
    had = [one for one in FROM if one in functions]
    if "AVG" in functions or {"SUM", "COUNT"} <= set(functions):
        had.append("AVG")
    new = Version(
        draw(st.sampled_from([KEYS, ("card",), ("shop", "card")])),
        window * draw(st.sampled_from([1, 2, 5])),
        tuple(draw(st.lists(st.sampled_from(had), min_size=1, unique=True))),
        draw(st.sampled_from(["INT", "BIGINT"])),
    )
    return old, new


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[list[Row]], int]:
    """Batches of rows whose instants only grow, and how many of them the old version has."""
    second, batches = 0, []
    for _ in range(draw(st.integers(2, 4))):
        batch = []
        for _ in range(draw(st.integers(1, 4))):
            second += draw(st.integers(1, 40))
            amount = draw(st.one_of(st.none(), st.integers(-9, 99)))
            batch.append(
                Row(draw(st.sampled_from("ab")), draw(st.sampled_from("xy")), amount, second)
            )
        batches.append(batch)
    return batches, draw(st.integers(1, len(batches) - 1))


def check(
    spark: SparkSession, edit: tuple[Version, Version], given: tuple[list[list[Row]], int]
) -> None:
    (old, new), (batches, cut) = edit, given
    before = [row for batch in batches[:cut] for row in batch]
    after = [row for batch in batches[cut:] for row in batch]
    watermark = before[-1].second - DELAY
    kept = [row for row in before if old.start(row) + old.window > watermark]

    scripts = [compiled_text(v.spec(n), "spend.stream") for n, v in enumerate(edit, 1)]
    plans = [plan_in(script) for script in scripts]
    text = "from: 1\nto: 2\n"
    if new.window != old.window:
        text += "operators: {spend: {rewindow: auto}}\n"
    plan = plan_migration(*plans, read_migration(*plans, Diagnostics(SourceFile("m.yaml", text))))
    assert plan.exit_code == 0, plan_text(plan)

    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        files = [root / part for part in ("old", "new")]
        for folder in files:
            folder.mkdir()
        paths = [written(script, folder) for script, folder in zip(scripts, files, strict=True)]
        with step_run(paths[0], root / "run-old", spark) as run:
            for batch in batches[:cut]:
                run.feed({"payments": "".join(row.line for row in batch)})
            run.take("out")
            handed_on = run.hand_on(root / "savepoint")
        with step_run(paths[1], root / "run-new", spark, partitions=3) as run:
            run.begin(handed_on, document(plan))
            for batch in batches[cut:]:
                run.feed({"payments": "".join(row.line for row in batch)})
            run.drain()
            rows = run.take("out")
    found = {
        (*(row[key] for key in new.keys), seconds(row["window_start"])): tuple(
            number(row[one.lower()]) for one in new.functions
        )
        for row in rows
    }
    assert len(found) == len(rows)
    right = new.groups([*kept, *after])
    assert found.keys() == right.keys()
    for key, values in right.items():
        assert found[key] == pytest.approx(values), key


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def seconds(instant: str) -> int:
    return int((datetime.fromisoformat(instant) - T0).total_seconds())


@settings(max_examples=3, derandomize=True, database=None)
@given(edit=versions(), arrived=arrivals())
def test_an_exact_edit(
    spark: SparkSession, edit: tuple[Version, Version], arrived: tuple[list[list[Row]], int]
) -> None:
    check(spark, edit, arrived)


@pytest.mark.long
@settings(max_examples=100)
@given(edit=versions(), arrived=arrivals())
def test_many_exact_edits(
    spark: SparkSession, edit: tuple[Version, Version], arrived: tuple[list[list[Row]], int]
) -> None:
    check(spark, edit, arrived)
