"""Every aggregate, window and join against plain Python, over streams that Hypothesis makes.

All streams run side by side in one run, a key each, so that a hundred of them cost as much as one.
Their rows arrive in one batch, a row a batch, and with a restart before each batch. Of the streams
whose rows come out wrong the shortest is shown.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled, written
from hypothesis import strategies as st
from oracles import aggregates, joins, windows
from oracles.streams import (
    LAST,
    Batches,
    Row,
    Watermarks,
    made,
    offsets,
    packed,
    rounded,
    steps_of,
    values,
)
from run_case import Way, each_way, write_input
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
FOLDER = Path(__file__).parent / "oracles"
DELAY = timedelta(minutes=5)
Rows = list[dict[str, Any]]
Inputs = dict[str, Batches]


# Running.


def arriving(batches: Batches, way: Way) -> Batches:
    return [[row for batch in batches for row in batch]] if way == "whole" else batches


def outputs(
    name: str, inputs: Inputs, way: Way, root: Path, spark: SparkSession
) -> dict[str, Rows]:
    """Return what each sink gets when the input arrives in one way, a file a batch."""
    result = compiled(FOLDER / f"{name}.stream", f"{name}.stream")
    assert result.plan_json is not None and not len(result.diagnostics)
    sources = json.loads(result.plan_json)["sources"]
    script = written(result, root)
    found: dict[str, Rows] = defaultdict(list)
    count = max(len(batches) for batches in inputs.values())
    for source in inputs:
        (root / "in" / source).mkdir(parents=True)
    for number in range(count):
        for source, batches in inputs.items():
            path = root / "in" / source / f"{number:03d}"
            write_input(path, number, batches[number], sources[source])
        if way == "restarted" or number == count - 1:
            variables = {"in": str(root / "in"), "files": "1"}
            asked = Arguments(until_caught_up=True, variables=variables, state=str(root / "state"))
            done = run_script(script, asked, spark=spark)
            assert done.exit_code == 0, [failure.render() for failure in done.failures]
            for sink, rows in done.rows.items():
                found[sink] += [row.asDict(recursive=True) for row in rows]
    return found


# Comparing.


def plain(value: Any) -> Any:
    """Return a value as a text, a number, a truth value, None or a list of them."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case list() | tuple():
            return [plain(item) for item in value]
    return value


def agrees(got: Any, right: Any) -> bool:
    if isinstance(right, aggregates.OneOf):
        return any(agrees(got, value) for value in right.values)
    got, right = plain(got), plain(right)
    if isinstance(got, list) and isinstance(right, list):
        return len(got) == len(right) and all(map(agrees, got, right))
    if isinstance(got, int | float) and isinstance(right, int | float):
        return math.isclose(got, right, rel_tol=1e-9, abs_tol=1e-9)
    return type(got) is type(right) and bool(got == right)


def differences(got: Rows, right: Rows, keys: tuple[str, ...]) -> list[str]:
    """Return what differs between rows that are known by their keys."""
    left, expected = ({tuple(plain(r[k]) for k in keys): r for r in rows} for rows in (got, right))
    said = [f"twice: {keys} of {len(got) - len(left)} rows"] if len(left) < len(got) else []
    said += [f"missing: {expected[key]}" for key in expected if key not in left]
    said += [f"unexpected: {left[key]}" for key in left if key not in expected]
    for key in left.keys() & expected.keys():
        said += [
            f"{key}: {name} is {left[key][name]!r}, not {value!r}"
            for name, value in expected[key].items()
            if not agrees(left[key][name], value)
        ]
    return said


def lines(rows: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps({name: plain(value) for name, value in r.items()}) for r in rows)


def verdict(
    got: Rows,
    right: Rows,
    inputs: Inputs,
    stream: Callable[[Row], Any],
    compare: Callable[..., Any],
) -> str | None:
    """Return the input and the difference of the shortest stream that came out wrong."""
    sides: dict[Any, tuple[Rows, Rows]] = defaultdict(lambda: ([], []))
    for place, rows in enumerate((got, right)):
        for row in rows:
            sides[stream(row)][place].append(row)
    wrong: list[tuple[int, str]] = []
    for number, (some, others) in sides.items():
        said = compare(some, others)
        if number != LAST and said:
            own = [
                f"  {source} {place}: {row}"
                for source, batches in inputs.items()
                for place, batch in enumerate(batches)
                for row in batch
                if row["stream"] == number
            ]
            wrong.append((len(own), "\n".join([f"stream {number}:", *own, *map(str, said)])))
    if not wrong:
        return None
    return f"{len(wrong)} of {len(sides)} streams differ; {min(wrong)[1]}"


def unequal(got: Rows, right: Rows) -> list[str]:
    left, expected = lines(got), lines(right)
    if left == expected:
        return []
    return [f"got {line}" for line in left] + [f"right {line}" for line in expected]


def apart(got: Rows, right: Rows) -> list[str]:
    """Return what differs but for the last digits of a DOUBLE."""
    return unequal([rounded(row) for row in got], [rounded(row) for row in right])


# Aggregates.


@cache
def rows_of_values() -> Batches:
    nothing = dict.fromkeys(("i", "n", "d", "e", "m", "s", "b"))
    return packed(made(steps_of(values(), 4), 150), nothing)


@pytest.mark.parametrize("way", each_way("row_by_row"))
def test_aggregates(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    batches = arriving(rows_of_values(), way)
    marks = Watermarks(batches, DELAY, idle=way == "restarted")
    groups = windows.grouped(batches, marks, lambda ts: windows.tumbling(ts, 2 * DELAY))
    got = outputs("aggregates", {"rows": batches}, way, tmp_path, spark)
    for sink, oracle in (("chosen", aggregates.chosen), ("measured", aggregates.measured)):
        right = [
            {"stream": stream, "window_start": start, **oracle(rows)}
            for (stream, start, _), rows in groups.items()
        ]
        said = verdict(
            got[f"{sink}_out"],
            right,
            {"rows": batches},
            lambda row: row["stream"],
            lambda a, b: differences(a, b, ("window_start",)),
        )
        assert said is None, said


# Windows.


@cache
def rows_of_windows() -> Batches:
    row = st.fixed_dictionaries(
        {
            "i": st.one_of(st.none(), st.integers(-3, 3)),
            "offset": st.one_of(offsets, offsets, offsets, st.none()),
        }
    )
    return packed(made(steps_of(row, 4), 200), {"i": None})


@pytest.mark.parametrize("way", each_way("whole"))
def test_windows(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    batches = arriving(rows_of_windows(), way)
    marks = Watermarks(batches, DELAY, idle=way == "restarted")
    found = {kind: windows.grouped(batches, marks, of) for kind, of in windows.KINDS.items()} | {
        "session": windows.sessions(batches, marks)
    }
    right = [
        {"kind": kind, "stream": stream, "window_start": start, "window_end": end}
        | windows.counted(rows)
        for kind, groups in found.items()
        for (stream, start, end), rows in groups.items()
    ]
    cumulated = [
        {"stream": stream, "ts": end, "i": windows.counted(rows)["total"]}
        for (stream, _, end), rows in found["cumulate"].items()
    ]
    instant = timedelta(microseconds=1)
    tens = defaultdict(list)
    for row in cumulated:
        ((start, end),) = windows.tumbling(row["ts"] - instant, 2 * DELAY)
        tens[row["stream"], start, end].append(row)
    again = [
        {"stream": stream, "window_start": start, "window_end": end, **windows.counted(rows)}
        for (stream, start, end), rows in tens.items()
    ]
    so_far = [
        {"stream": stream, "window_end": end, **windows.counted(rows)}
        for (stream, _, end), rows in found["cumulate"].items()
    ]
    got = outputs("windows", {"rows": batches}, way, tmp_path, spark)
    latest = {(row["stream"], row["window_end"]): row for row in got["so_far_out"]}
    got["so_far_out"] = list(latest.values())
    for sink, rows in (("windows", right), ("again", again), ("so_far", so_far)):
        inputs = {"rows": batches}
        said = verdict(got[f"{sink}_out"], rows, inputs, lambda row: row["stream"], unequal)
        assert said is None, f"{sink}: {said}"


# Joins.


@cache
def rows_of_joins() -> Inputs:
    row = st.fixed_dictionaries(
        {
            "k": st.one_of(st.none(), st.sampled_from("xxy")),
            "i": st.one_of(st.none(), st.integers(0, 9)),
            "offset": st.one_of(offsets, offsets, offsets, st.none()),
        }
    )
    sides = made(st.tuples(steps_of(row, 3), steps_of(row, 3)), 200)
    # Of a row whose key is NULL Spark sees no instant: it is dropped before the watermark.
    last = {"k": "x", "i": 0}
    found = {name: packed([pair[place] for pair in sides], last) for place, name in enumerate("ab")}
    longest = max(len(batches) for batches in found.values())
    assert all(len(batches) == longest for batches in found.values())
    return found


@pytest.mark.parametrize("way", each_way("whole"))
def test_joins(way: Way, tmp_path: Path, spark: SparkSession) -> None:
    inputs = {name: arriving(batches, way) for name, batches in rows_of_joins().items()}
    a, b = (joins.timed(inputs[name]) for name in "ab")
    intervals = [
        {"kind": kind, **joins.shown(pair, stream="stream", _="i")}
        for kind in joins.WINDOWS
        for pair in joins.joined(a, b, kind, joins.in_interval)
    ]
    in_windows = [
        {"kind": kind, **joins.shown(pair, stream="stream", _="i", end="end")}
        for kind, of in joins.WINDOWS.items()
        for pair in joins.joined(
            joins.windowed(a, of), joins.windowed(b, of), kind, joins.in_window
        )
    ]
    got = outputs("joins", inputs, way, tmp_path, spark)
    sums: dict[Any, Rows] = defaultdict(list)
    fives = [joins.windowed(rows, joins.WINDOWS["inner"]) for rows in (a, b)]
    for one, other in joins.joined(*fives, "left", joins.in_window):
        assert one is not None
        sums[one["stream"], one["end"]].append({"a": one["i"], "b": other and other["i"]})
    right = [
        {"stream": stream, "window_end": end, "n": len(rows)}
        | {side: aggregates.total(aggregates.known(rows, side)) for side in "ab"}
        for (stream, end), rows in sums.items()
    ]

    def stream(row: Row) -> Any:
        return row["stream_b"] if row["stream_a"] is None else row["stream_a"]

    for sink, rows, of in (
        ("intervals", intervals, stream),
        ("windows", in_windows, stream),
        ("sums", right, lambda row: row["stream"]),
    ):
        found = got[f"{sink}_out"] or [
            row for kind in joins.WINDOWS for row in got[f"{sink.removesuffix('s')}_{kind}_out"]
        ]
        got_rows = [{name: row[name] for name in rows[0]} for row in found]
        said = verdict(got_rows, rows, inputs, of, unequal)
        assert said is None, f"{sink}: {said}"
