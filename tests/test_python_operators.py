"""Operators in Python without Spark: order, values, cells, and reported mistakes."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import Row, StructType
from python_operators.engine import Spark, at, ddl, operator
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.python_operator.loading import ON_EVENT, ON_TIMER, load_class
from streamc.runtime.python_operator.plan import CellPlan, TimerPlan
from streamc.runtime.python_operator.values import Unfit, rank, reader, writer


class Told:
    """Says what it handles; a row starts or stops a timer, a timer starts itself again."""

    def on_event(self, row: Any, state: Any, timers: Any) -> Iterator[tuple[str, str]]:
        state.seen += 1
        yield state.key.k, f"{row.s}{row.n} {state.seen}"
        timer = timers["due" if row.n % 2 else "late"]
        if row.n < 0:
            timer.stop()
        else:
            timer.start(row.at + timedelta(milliseconds=row.n))

    def on_timer_due(self, at: Any, state: Any, timers: Any) -> list[tuple[str, str]]:
        return [(state.key.k, f"due {at.isoformat()} {state.seen}")]

    def on_timer_late(self, at: Any, state: Any, timers: Any) -> Iterator[dict[str, str]]:
        state.seen += 100
        yield {"k": state.key.k, "said": f"late {at.isoformat()} {state.seen}"}
        if state.seen % 3 == 0:
            timers.due.start(at)
            timers.late.start(at + timedelta(milliseconds=1))


TOLD = operator(
    Told,
    columns="at TIMESTAMP, n INT, s STRING",
    returns="k STRING, said STRING",
    values=[CellPlan("seen", "value", 0, 0, "record", StructType())],
    record="value_seen INT, timer_late TIMESTAMP, timer_due TIMESTAMP, ",
    timers=[TimerPlan("late", False), TimerPlan("due", False)],
)


def oracle(rows: list[tuple[int, int, str]]) -> list[str]:
    """What is said of the rows of a key, if all of them are there from the beginning."""
    waiting, said, seen = sorted(rows), [], 0
    timers: dict[str, int] = {}
    while waiting or timers:
        first = min(timers, key=lambda name: (timers[name], name != "late"), default=None)
        if waiting and (first is None or waiting[0][0] <= timers[first]):
            instant, n, s = waiting.pop(0)
            seen += 1
            said.append(f"{s}{n} {seen}")
            name = "due" if n % 2 else "late"
            if n < 0:
                timers.pop(name, None)
            else:
                timers[name] = instant + n
            continue
        assert first is not None
        instant = timers.pop(first)
        if first == "late":
            seen += 100
        said.append(f"{first} {at(instant).isoformat()} {seen}")
        if first == "late" and seen % 3 == 0:
            timers |= {"due": instant, "late": instant + 1}
    return said


@pytest.mark.parametrize("seed", range(40))
def test_rows_and_timers_go_by_their_instants_however_they_come(seed: int) -> None:
    chance = random.Random(seed)
    rows = {
        key: [
            (chance.randrange(1, 40), chance.randrange(-3, 12), chance.choice("xyz"))
            for _ in range(chance.randrange(1, 25))
        ]
        for key in "ab"
    }
    spark, said = Spark(TOLD), list[Row]()
    left = [(key, row) for key, own in rows.items() for row in own]
    chance.shuffle(left)
    watermark, come = 0, list[int]()
    while left:
        batch = [left.pop() for _ in range(min(len(left), chance.randrange(1, 6)))]
        made = [(key, Row("e", "at", "n", "s")(at(t), at(t), n, s)) for key, (t, n, s) in batch]
        said += spark.epoch(made, watermark)
        come += [row[0] for _, row in batch]
        assert spark.turns.handled == sum(instant <= watermark for instant in come)
        # No later than what has not arrived yet, so that no row is late.
        instants = [row[0] for _, row in left]
        watermark = max(watermark, chance.randrange(0, max(min(instants, default=40), 1)))
    for watermark in (60, 2**50):
        said += spark.epoch([], watermark)
    for key, own in rows.items():
        assert [one.said for one in said if one.k == key] == oracle(own)
    assert spark.timers == set()
    for _, held in spark.variables.items():
        assert not any(entries for entries in held._of.values() if isinstance(entries, dict))


class Each:
    """Runs what the row says."""

    def on_event(self, row: Any, state: Any, timers: Any) -> Iterator[Any]:
        found = eval(row.s, {"state": state, "timers": timers, "row": row, "date": date})
        yield row.n, repr(found)


ENTRIES = [
    CellPlan("m", "map", None, 0, "cell_m", ddl("key STRING, value INT")),
    CellPlan("s", "set", None, 0, "cell_s", ddl("key INT, value BOOLEAN")),
    CellPlan("l", "list", None, 0, "cell_l", ddl("value INT")),
    CellPlan("old", "map", None, 5_000_000, "cell_old", ddl("key INT, value INT, written BIGINT")),
]
EACH = operator(
    Each,
    columns="at TIMESTAMP, n INT, s STRING",
    returns="n INT, said STRING",
    values=[CellPlan("total", "value", 7, 0, "record", StructType())],
    entries=ENTRIES,
    record="value_total INT, ",
    ordered=False,
)


def said(spark: Spark, *lines: str, now: int = 0) -> list[str]:
    rows = [("k", Row("e", "at", "n", "s")(at(n), at(n), n, s)) for n, s in enumerate(lines)]
    return [one.said for one in spark.epoch(rows, 0, now)]


def test_cells() -> None:
    spark = Spark(EACH)
    found = said(
        spark,
        "state.m.update({'b': 2, 'a': 1}) or (state.m['a'], state.m.get('z'), 'b' in state.m)",
        "(list(state.m), list(state.m.values()), len(state.m), state.m.pop('a'), dict(state.m))",
        "[state.s.add(n) for n in (3, 1, 3)] and (list(state.s), len(state.s), None in state.s)",
        "state.l.extend([5, 4]) or state.l.append(None) or (list(state.l), len(state.l))",
        "(state.s.discard(3), state.s.discard(9), set(state.s), state.s & {1, 2})",
        "(state.total, state.__setattr__('total', 1), state.total, state.clear('total'))",
        "(state.total, state.key, timers.watermark)",
        "state.__setitem__('l', (1, 2)) or state.__setitem__('m', {'x': 1}) or (state.l, state.m)",
        "state.clear() or (len(state.l), len(state.s), len(state.m), bool(state.l), state.total)",
    )
    assert found == [
        "(1, None, True)",
        "(['a', 'b'], [1, 2], 2, 1, {'b': 2})",
        "([1, 3], 2, False)",
        "([5, 4, None], 3)",
        "(None, None, {1}, {1})",
        "(7, None, 1, None)",
        "(7, Row(k='k'), None)",
        "([1, 2], {'x': 1})",
        "(0, 0, 0, False, 7)",
    ]


def test_entries_live_as_long_as_they_are_to_live() -> None:
    spark = Spark(EACH)
    assert said(spark, "state.old.update({1: 1}) or len(state.old)", now=1_000) == ["1"]
    assert said(spark, "state.old.update({2: 2}) or list(state.old)", now=4_000) == ["[1, 2]"]
    assert said(spark, "(list(state.old), 1 in state.old, 2 in state.old)", now=6_000) == [
        "([2], False, True)"
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("state.__setattr__('total', 'x')", "TypeError: total: 'x' is not a valid INT"),
        ("state.__setattr__('total', 2**31)", "TypeError: total: 2147483648 is not a valid INT"),
        ("state.__setattr__('total', True)", "TypeError: total: True is not a valid INT"),
        ("state.m.__setitem__(None, 1)", "TypeError: None as a key of m"),
        ("state.m.__setitem__(1, 1)", "TypeError: a key of m: 1 is not a valid STRING"),
        ("state.m['x']", "KeyError: 'x'"),
        ("state.l.append('x')", "TypeError: an element of l: 'x' is not a valid INT"),
        ("state.totl", "AttributeError: there is no cell totl; did you mean total?"),
        ("state.clear('q')", "AttributeError: there is no cell q; there are total, m, s, l, old"),
        ("timers.due.start(1)", "AttributeError: there is no timer due; there are none"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_mistake_is_reported_with_its_location(line: str, told: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        said(Spark(EACH), line)
    text = str(caught.value)
    head = "[streamc] operator `o` (m:C), ON EVENT a, key (k = k), row (at = 1970-01-01"
    assert text.startswith(head)
    assert f", n = 0, s = {line}) raised\n  File " in text
    assert text.endswith(f"\n{told}")
    assert "python_operator/" not in text


EMITTING = """
class Emits:
    def on_event(self, row, state, timers):
        return eval(row.s, {"row": row})
"""


@pytest.mark.parametrize(
    ("emitted", "told"),
    [
        ("[(1,)]", "what is emitted: 1 values for 2 columns"),
        ("[(1, row.at, 3)]", "what is emitted: 3 values for 2 columns"),
        ("[{'n': 1, 'when': row.at}]", "what is emitted: there is no column when"),
        ("[('x', row.at)]", "what is emitted: n: 'x' is not a valid INT"),
        ("(1, row.at)", "what is emitted: 1 is not a valid STRUCT<N:INT,AT:TIMESTAMP>"),
        ("7", "a handler yields rows, or returns a list of them, not 7"),
        ("{'n': 1}", "a handler yields rows, or returns a list of them, not {'n': 1}"),
        ("[None]", "None is emitted, which is not a row"),
        ("[(1, None)]", "at is the event time of what is emitted: None, before 1970-01-01 00:00"),
        (
            "[(1, row.at.replace(year=1969))]",
            "at is the event time of what is emitted: 1969-01-01 00:00:00+00:00, before 1970",
        ),
    ],
)
def test_what_is_emitted_is_looked_at(emitted: str, told: str) -> None:
    names: dict[str, Any] = {}
    exec(EMITTING, names)
    plan = operator(
        names["Emits"],
        columns="at TIMESTAMP, n INT, s STRING",
        returns="n INT, at TIMESTAMP",
        ordered=False,
        event_time=1,
    )
    with pytest.raises(RuntimeError) as caught:
        said(Spark(plan), emitted)
    assert told in str(caught.value).splitlines()[-1]


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type_", "given", "kept"),
    [
        ("DECIMAL(5, 2)", Decimal("1.005"), Decimal("1.01")),
        ("DECIMAL(5, 2)", 3, Decimal("3.00")),
        ("DOUBLE", 3, 3.0),
        ("BINARY", bytearray(b"x"), b"x"),
        ("TIMESTAMP", NOON.replace(tzinfo=None), NOON),
        ("TIMESTAMP_NTZ", NOON.replace(tzinfo=None), NOON.replace(tzinfo=None)),
        ("ARRAY<INT>", (1, None), [1, None]),
        ("MAP<STRING, STRUCT<a: INT>>", {"x": {"a": 1}, "y": None}, {"x": (1,), "y": None}),
        ("STRUCT<a: INT, b: STRING>", {"b": "x"}, (None, "x")),
        ("STRUCT<a: INT, b: STRING>", Row(b="x", a=1), (1, "x")),
        ("STRUCT<a: INT, b: STRING>", [1, "x"], (1, "x")),
    ],
)
def test_values_are_those_of_their_type(type_: str, given: Any, kept: Any) -> None:
    kind = ddl(f"c {type_}")[0].dataType
    assert writer(kind)(given) == kept
    assert writer(kind)(None) is None
    assert reader(kind)(writer(kind)(given)) == reader(kind)(kept)


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("DECIMAL(5, 2)", Decimal("1000")),
        ("DECIMAL(5, 2)", 1.5),
        ("DECIMAL(5, 2)", Decimal("NaN")),
        ("TINYINT", 128),
        ("DATE", NOON),
        ("TIMESTAMP", date(2026, 1, 1)),
        ("TIMESTAMP_NTZ", NOON),
        ("ARRAY<STRING>", "xy"),
        ("MAP<STRING, INT>", {None: 1}),
        ("STRUCT<a: INT>", {"b": 1}),
        ("STRUCT<a: INT>", (1, 2)),
    ],
)
def test_other_values_do_not_fit(type_: str, given: Any) -> None:
    with pytest.raises(Unfit):
        writer(ddl(f"c {type_}")[0].dataType)(given)


def test_values_have_the_order_of_spark() -> None:
    nan = float("nan")
    assert sorted([nan, 1.0, None, -0.5], key=rank)[:3] == [None, -0.5, 1.0]
    arrays = [[1, None], [1], [], None, [0, 9]]
    assert sorted(arrays, key=rank) == [None, [], [0, 9], [1], [1, None]]
    structs = [Row(a=1, b="b"), Row(a=None, b="z"), Row(a=1, b=None)]
    assert sorted(structs, key=rank) == [structs[1], structs[2], structs[0]]
    assert rank({"b": 1, "a": 2}) == rank({"a": 2, "b": 1})


CLASSES = """
class Whole:
    def on_event(self, row, state, timers): ...
    def on_timer_due(self, at, state, timers): ...

class Half:
    def on_event(self, row, state, timers): ...

class Short:
    def on_event(self, row): ...
    def on_timer_due(self, at, state, timers): ...

class Wants(Whole):
    def __init__(self, limit): ...

def function(): ...
"""


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("Half", "SR0313", "`classes_here:Half` has no `on_timer_due`"),
        ("Short", "SR0313", "has a `on_event` that does not take row, state, timers"),
        ("Wants", "SR0313", "`classes_here:Wants` cannot be made without arguments"),
        ("function", "SR0313", "`classes_here:function` is not a class"),
        ("Nobody", "SR0305", "module `classes_here` has no class `Nobody`"),
    ],
)
def test_a_class_has_what_is_called(name: str, code: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "classes_here.py").write_text(CLASSES, encoding="utf-8")
    sys.modules.pop("classes_here", None)
    methods = {"on_event": ON_EVENT, "on_timer_due": ON_TIMER}
    assert load_class("classes_here:Whole", "o", [str(tmp_path)], methods)
    with pytest.raises(RuntimeFault) as caught:
        load_class(f"classes_here:{name}", "o", [str(tmp_path)], methods)
    assert caught.value.code.number == code
    assert caught.value.message.startswith("operator `o`: ")
    assert told in caught.value.message
    assert "def on_" in str(caught.value.help) or "__init__" in str(caught.value.help)


def test_a_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RuntimeFault) as caught:
        load_class("classes_here:Whole", "o", [str(tmp_path)], {})
    assert caught.value.code.number == "SR0314"
