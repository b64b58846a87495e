"""The ledger of a batch: what becomes of rows, and leaks shown by falsified counters."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from streamc.runtime.accounting.ledger import (
    BatchLedger,
    check,
    count_sink,
    remarks,
    rows_read,
    shown,
    total,
)
from streamc.runtime.accounting.plan_counts import read_counts
from streamc.runtime.kinds.counts import PlanNode

Node = dict[str, Any]


def scan(out: int, source: str = "orders", **records: Any) -> Node:
    found: Node = {"kind": "scan", "source": source, "out": out}
    return found | ({"records": {"wanted": "good", **records}} if records else {})


def over(node: Node, kind: str, out: int, **counters: Any) -> Node:
    return {"kind": kind, "out": out, "from": [[node]], **counters}


def shuffled(node: Node) -> Node:
    return over(node, "shuffle", node["out"], written=node["out"])


def dedup() -> Node:
    """Of 12 records 9 are rows, one without a key; 3 are late, 2 duplicates, 1 too cheap."""
    rows = over(scan(9, read=12, malformed=2, blank=1), "filter", 8, condition="(`id` IS NOT NULL)")
    state = {"late": 3, "duplicates": 2, "updated": 3, "removed": 1, "held": 6}
    found = over(shuffled(rows), "dedup", 3, number=0, keyed=True, **state)
    return over(found, "filter", 2, condition="(amount > 5)")


def aggregate(out: int = 2) -> Node:
    """7 rows of 4 groups: one is late, one is in state already; 2 windows close."""
    groups = shuffled(over(scan(7), "groups", 4))
    merged = over(over(over(groups, "groups", 4), "restore", 5), "groups", 4)
    state = {"late": 1, "updated": 3, "removed": 2, "held": 5}
    saved = over(merged, "aggregate", out, number=0, mode="Append", keyed=True, **state)
    return over(saved, "groups", out)


def session() -> Node:
    """5 rows, of which 4 groups come; one is late, 2 known sessions are merged into one of them."""
    groups = shuffled(over(scan(5), "groups", 4))
    merged = over(over(groups, "restore", 5), "groups", 2)
    state = {"late": 1, "updated": 2, "removed": 3, "held": 3}
    saved = over(merged, "session", 1, number=0, mode="Append", keyed=True, **state)
    return over(saved, "groups", 1)


def join(mode: str = "INNER") -> Node:
    sides = [[shuffled(scan(4))], [shuffled(scan(3, "payments"))]]
    state = {"late": 1, "updated": 5, "removed": 2, "held": 7, "keyed": True}
    return {"kind": "join", "out": 9, "number": 0, "mode": mode, "from": sides, **state}


def ledger(plan: Node, before: Mapping[str, int] | None = None, kind: str = "dedup") -> BatchLedger:
    return counted([plan], [("op", kind)], before)


def counted(
    plan: Sequence[Node],
    operators: Sequence[tuple[str, str]] = (),
    before: Mapping[str, int] | None = None,
) -> BatchLedger:
    return read_counts("q", 4, list(map(PlanNode.from_json, plan)), operators, before)


def nodes(plan: Any) -> Iterator[Node]:
    if isinstance(plan, dict):
        yield plan
        plan = plan.get("from", [])
    for inner in plan:
        if isinstance(inner, dict | list):
            yield from nodes(inner)


def falsified(plan: Node, kind: str, counter: str, by: int) -> Node:
    """Return the plan with the first counter of that name of such a node off by a number."""
    found = copy.deepcopy(plan)
    node = next(node for node in nodes(found) if node["kind"] == kind)
    node = node["records"] if counter in node.get("records", {}) else node
    node[counter] += by
    return found


def test_each_row_of_a_deduplication_is_somewhere() -> None:
    found = ledger(dedup(), {"op": 4})
    assert found.entries == {
        "orders": {
            "kind": "source",
            "in": 12,
            "out": 8,
            "malformed": 2,
            "blank": 1,
            "filtered": 1,
            "filtered_null": 1,
        },
        "op": {
            "kind": "dedup",
            "in": 8,
            "out": 2,
            "late": 3,
            "duplicates": 2,
            "expired": 1,
            "held": 6,
            "filtered": 1,
        },
    }
    assert found.rows == 2 and not check(found)


def test_groups_are_distinguished_from_rows() -> None:
    found = ledger(aggregate(), {"op": 5}, "aggregate")
    entry = found.entries["op"]
    assert entry == {
        "kind": "aggregate",
        "in": 7,
        "out": 2,
        "groups": 4,
        "late": 1,
        "created": 2,
        "expired": 2,
        "held": 5,
    }
    assert not check(found)


def test_sessions_that_were_merged_are_not_lost() -> None:
    found = ledger(session(), {"op": 4}, "aggregate")
    assert found.entries["op"]["created"] == 0 and not check(found)


def test_a_join_says_how_many_rows_it_need_not_keep() -> None:
    found = ledger(join(), {"op": 4}, "join")
    entry = found.entries["op"]
    assert (entry["in_left"], entry["in_right"], entry["unkept"]) == (4, 3, 1)
    assert not check(found)


@pytest.mark.parametrize(
    ("plan", "kind", "counter", "by", "said"),
    [
        (dedup(), "scan", "malformed", -1, "source `orders`: not read 12 = rows 9 + malformed 1"),
        (dedup(), "scan", "out", -1, "source `orders`: not read 12 = rows 8"),
        (dedup(), "shuffle", "written", -1, "a shuffle of `orders`: not given 8 = written 7"),
        (dedup(), "shuffle", "out", -2, "a shuffle of `orders`: not written 8 = read 6"),
        (dedup(), "dedup", "late", 1, "operator `op`: not in 8 = late 4 + duplicates 2 + out 3"),
        (dedup(), "dedup", "held", 1, "operator `op`: not held 7 = before 4 + out 3 - expired 1"),
        (dedup(), "filter", "out", 9, "a filter of `op`: not out 11 <= in 3"),
        (aggregate(), "aggregate", "late", 1, "not groups 4 = late 2 + updated 3"),
        (aggregate(), "aggregate", "removed", 1, "not out 2 = expired 3"),
        (aggregate(), "restore", "out", 1, "held 5 = before 4 + updated 3 - found 2 - expired 2"),
        (session(), "session", "held", -1, "held 2 = before 4 + merged 2 - found 2 - out 1"),
        (join(), "join", "updated", 3, "not late 1 + added 8 <= left 4 + right 3"),
        (join(), "join", "removed", 1, "not held 7 = before 4 + added 5 - expired 3"),
        (join("LEFT OUTER"), "join", "held", 1, "not held 8 <= before 4 + added 5 - expired 2"),
    ],
)
def test_a_counter_that_is_wrong_is_a_leak(
    plan: Node, kind: str, counter: str, by: int, said: str
) -> None:
    state = next(n["kind"] for n in nodes(plan) if "held" in n).replace("session", "aggregate")
    leaks = check(ledger(falsified(plan, kind, counter, by), {"op": 4}, state))
    assert any(said in str(leak) for leak in leaks), [str(leak) for leak in leaks]
    assert all(str(leak).startswith("`q`, batch 4, ") for leak in leaks)


def test_an_outer_join_loses_rows_that_spark_does_not_count() -> None:
    assert not check(ledger(falsified(join("LEFT OUTER"), "join", "held", -2), {"op": 4}, "join"))


def test_what_the_sinks_got_is_what_the_query_gave() -> None:
    found = ledger(dedup(), {"op": 4})
    count_sink(found, 2)
    assert not check(found)
    count_sink(found, 1)
    assert [str(leak) for leak in check(found)] == [
        "`q`, batch 4, the sinks: not given 2 = written 1"
    ]


def test_nothing_is_said_of_state_before_the_first_batch_that_is_known() -> None:
    assert not check(ledger(dedup(), None))
    assert check(ledger(dedup(), {}))


def test_work_that_was_done_twice_is_no_leak() -> None:
    found = ledger(dedup(), {})
    found.recounted = True
    assert not check(found) and found.note().recounted


def test_an_operator_that_a_query_has_twice_has_two_entries() -> None:
    inner = dedup()
    outer = over(shuffled(inner), "dedup", 2, number=0, keyed=True, late=0, duplicates=0)
    outer |= {"updated": 2, "removed": 0, "held": 2}
    next(node for node in nodes(inner) if node["kind"] == "dedup")["number"] = 1
    found = counted([outer], [("op", "dedup"), ("op", "dedup")])
    assert (found.entries["op"]["in"], found.entries["op#2"]["in"]) == (2, 8)


def test_ticks_of_a_test_are_no_rows() -> None:
    rows = [scan(4), scan(1, "orders__ticks")]
    plan = {"kind": "filter", "out": 4, "condition": "((NOT __tick) OR false)", "from": [rows]}
    found = ledger(plan)
    assert found.entries == {
        "orders": {"kind": "source", "in": 4, "out": 4, "malformed": 0, "blank": 0}
    }


def test_a_second_read_belongs_to_its_source() -> None:
    plan = {"kind": "rows", "name": "Generate", "out": 9}
    plan["from"] = [[scan(4), scan(3, "orders__2")]]
    assert ledger(plan).entries["orders"] | {"kind": ""} == {
        "kind": "",
        "in": 7,
        "out": 9,
        "malformed": 0,
        "blank": 0,
        "fanned": 2,
    }


def test_messages_that_share_their_counters_are_compared_together() -> None:
    read = "((__read.`reason` IS NULL) AND (__read.`row` IS NOT NULL))"
    first, second = {"malformed": 2, "blank": 4}, {"malformed": 0, "blank": 0}
    plan = [
        over(scan(8, source), "filter", 5, condition=read, messages=found)
        for source, found in (("orders", first), ("orders__2", second))
    ]
    found = counted(plan)
    assert found.entries["orders"] == {
        "kind": "source",
        "in": 16,
        "out": 10,
        "malformed": 2,
        "blank": 4,
        "filtered": 0,
    }
    assert not check(found)
    first["blank"] = 5
    (leak,) = check(counted(plan))
    assert leak.identity == "no rows 7 <= taken 6"


def test_a_part_without_counters_is_named() -> None:
    found = ledger(over(scan(4), "uncounted", 4, name="Odd"))
    assert found.unaccounted == ["Odd of `orders` has no counter"]
    assert remarks([found.note(), found.note()]) == {
        "!unaccounted": {"kind": "unaccounted", "parts": "Odd of `orders` has no counter"}
    }


def test_batches_add_up_and_states_do_not() -> None:
    first, second = ledger(dedup(), {"op": 4}), ledger(dedup(), {})
    second.entries["op"]["held"] = 2
    notes = [first.note(), second.note()]
    entry = total(one.entries for one in notes)["op"]
    assert (entry["in"], entry["late"], entry["held"], entry["kind"]) == (16, 6, 2, "dedup")
    assert first.entries["op"]["in"] == 8
    told = remarks(notes)["!leaks"]
    assert told["leaks"] == 1
    assert told["first"].startswith("batch 4, operator `op`: not held 6 = before 0 + out 3")
    assert shown(entry) == (
        "dedup: 16 in, 4 out, 6 late, 4 duplicates, 2 expired, 2 held, 2 filtered"
    )


def test_the_rows_that_were_read_are_those_of_all_sources() -> None:
    """Blank and malformed records were read too; a source without counters reports nothing."""
    both = over(scan(4, "payments"), "rows", 13)
    both["from"][0].append(scan(9, read=12, malformed=2, blank=1))
    entries = total([ledger(both).note().entries, ledger(both).note().entries])
    assert rows_read(entries) == 2 * (4 + 12)
    unknown = ledger(over(scan(4), "uncounted", 4, name="Odd")).note()
    assert rows_read({**unknown.entries, **remarks([unknown])}) is None
    assert rows_read({}) is None
