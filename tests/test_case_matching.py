"""Matching of expected and received rows: as many as possible, and fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamc.compiler.model import types as t
from streamc.compiler.spec_tests import compare as module
from streamc.compiler.spec_tests.compare import Comparison, compare
from streamc.compiler.spec_tests.model import Column, Expect, Row
from streamc.dsl.reports.source import Span
from streamc.dsl.yaml.nodes import Sequence as NodeSequence

Found = Mapping[str, Any]
NOWHERE = Span(0, 0)
COLUMNS = (
    Column("k", t.INT),
    Column("v", t.INT),
    Column("x", t.DOUBLE),
    Column("m", t.Map(t.STRING, t.INT)),
)


def compared(
    wanted: Sequence[Found],
    got: Sequence[Found],
    columns: str = "kv",
    keys: Sequence[str] = (),
    **how: Any,
) -> Comparison:
    rows = tuple(Row(row, NOWHERE) for row in wanted)
    used = tuple(c for c in COLUMNS if c.name in columns)
    node = NodeSequence((), True, NOWHERE)
    return compare(Expect("s", used, rows, node, **how), got, keys)


def kv(*pairs: tuple[int, int]) -> list[dict[str, int]]:
    return [{"k": k, "v": v} for k, v in pairs]


@pytest.mark.parametrize("turned", [False, True])
def test_a_row_that_says_little_leaves_others_theirs(turned: bool) -> None:
    wanted = [{"k": 1}, {"k": 1, "v": 2}]
    found = compared(wanted[::-1] if turned else wanted, kv((1, 2), (1, 3)), contains=True)
    assert found.holds


def test_a_chain_of_rows_that_all_have_to_move() -> None:
    # Each matches its own or the next one, and the last only the first.
    wanted = [{"x": float(n)} for n in range(6)]
    got = [{"x": n + 0.5} for n in range(5)] + [{"x": -0.5}]
    assert compared(wanted, got, "x", contains=True, tolerance=0.5).holds
    assert compared(wanted, got, "x", tolerance=0.5).holds
    # 5 matches only 4.5, and 0 to 4 only 0.5 to 3.5.
    short = compared(wanted, got[:5], "x", tolerance=0.3)
    assert len(short.missing) + len(short.changed) == len(wanted) - len(short.matched)


def test_equal_rows_are_counted() -> None:
    found = compared(kv((1, 1), (1, 1), (1, 1)), kv((1, 1), (1, 1)))
    assert (len(found.matched), found.missing, found.unexpected) == (2, (2,), ())
    found = compared(kv((1, 1), (1, 1)), kv((1, 1), (2, 2), (1, 1), (1, 1)))
    assert (found.matched, found.unexpected) == (((0, 0), (1, 2)), (1, 3))


def test_an_order_is_found_where_there_is_one() -> None:
    wanted = [{"k": 1}, {"k": 1, "v": 2}, {"k": 1}]
    got = kv((1, 2), (1, 2), (1, 3))
    assert compared(wanted, got, contains=True, ordered=True).holds
    turned = compared(kv((1, 1), (2, 2)), kv((2, 2), (1, 1)), ordered=True)
    assert turned.disordered and not turned.missing


def test_maps_have_no_order() -> None:
    wanted = [{"m": {"a": 1, "b": 2}}]
    assert compared(wanted, [{"m": {"b": 2, "a": 1}}], "m").holds


def test_a_row_without_the_keys_is_no_change_of_another() -> None:
    found = compared([{"v": 7}], kv((1, 1)), keys=("k",), contains=True)
    assert (found.missing, found.changed) == ((0,), ())


partial = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(0, 1),
        "v": st.integers(0, 2),
        "x": st.sampled_from([0.0, 0.4, 0.8, 1.2]),
    },
)
whole = st.fixed_dictionaries(
    {
        "k": st.integers(0, 1),
        "v": st.integers(0, 2),
        "x": st.sampled_from([0.0, 0.4, 0.8, 1.2]),
    }
)


def most(wanted: Sequence[Found], got: Sequence[Found], tolerance: float) -> int:
    """The size of a largest matching, by trying everything."""
    if not wanted:
        return 0
    first, *others = wanted
    best = most(others, got, tolerance)
    for place, row in enumerate(got):
        near = abs(first.get("x", row["x"]) - row["x"]) <= tolerance * max(
            1.0, abs(first.get("x", row["x"])), abs(row["x"])
        )
        if near and all(row[name] == first[name] for name in first if name != "x"):
            best = max(best, 1 + most(others, [*got[:place], *got[place + 1 :]], tolerance))
    return best


@given(st.lists(partial, max_size=5), st.lists(whole, max_size=5))
def test_no_matching_is_larger(wanted: list[Found], got: list[Found]) -> None:
    found = compared(wanted, got, "kvx", contains=True, tolerance=0.35)
    assert len(found.matched) == most(wanted, got, 0.35)
    assert len({b for _, b in found.matched}) == len(found.matched)
    for a, b in found.matched:
        assert all(got[b][name] == wanted[a][name] for name in wanted[a] if name != "x")


@pytest.mark.parametrize(
    ("columns", "wanted", "got"),
    [
        ("kv", [{"k": n, "v": n} for n in range(4_000)], [{"k": n, "v": n} for n in range(4_000)]),
        # Floats alone, some of them missing and some more than expected.
        (
            "x",
            [{"x": float(n)} for n in range(4_000)],
            [{"x": n + 1e-12} for n in range(50, 4_050)],
        ),
        # One value many times, and once more than received.
        ("kv", [{"k": 1}] * 4_000, [{"k": 1, "v": n} for n in range(3_999)]),
        (
            "kvx",
            [{"k": 1, "x": n / 2} for n in range(3_000)],
            [{"k": 1, "v": n, "x": n / 2} for n in range(3_000)],
        ),
    ],
)
def test_the_work_grows_with_the_rows(
    columns: str, wanted: list[Found], got: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    plain = module._like

    def counted(*arguments: Any) -> bool:
        nonlocal calls
        calls += 1
        return plain(*arguments)

    monkeypatch.setattr(module, "_like", counted)
    found = compared(wanted, got, columns, contains=True)
    assert len(found.matched) >= len(wanted) - 50
    assert calls <= 5 * (len(wanted) + len(got))
