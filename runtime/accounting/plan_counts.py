"""The ledger of a batch from the counters of Spark's plan.

The kernel gives a tree: each node has a kind, its counters, and its inputs, one for a chain and two
for a join, each a list of the nodes whose rows it gets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .ledger import BatchLedger, Counts, Equation
from .remarks import OddInstant

Node = Mapping[str, Any]

_OPERATORS = ("aggregate", "session", "dedup", "join", "program", "stateful")
_TICKS = "__ticks"
_HELD = r"\(*(?:`?[\w.`]+`? IS NOT NULL|intime\(`?[\w.`]+`?(?:, -?\d+L?)*\))\)*"
_NO_NULLS = re.compile(rf"{_HELD}(?: AND {_HELD})*")
_FUTURE = re.compile(r"\(\((.+) IS NULL\) OR \(\1 <= (?:TIMESTAMP '|epochinstant\(\)).*\)\)")


@dataclass(frozen=True, slots=True)
class Flow:
    """Rows flowing up a plan: how many, the entries they come from, how many before a grouping."""

    rows: int
    origins: tuple[str, ...]
    ungrouped: int | None = None


def read_counts(
    query: str,
    batch: int,
    plan: Sequence[Node],
    operators: Sequence[tuple[str, str]],
    before: Mapping[str, int] | None,
) -> BatchLedger:
    """The ledger of a batch.

    `operators` are the id and kind of the query's stateful operators by Spark's numbers, `before`
    is what each held after the previous batch, if known.
    """
    reader = _Reader(BatchLedger(query, batch), _names(operators), before)
    ledger = reader.ledger
    ledger.rows = reader.all_of([node for node in plan if node["kind"] != "table"]).rows
    for node in plan:
        if node["kind"] == "table":
            reader.tell(str(node["owner"]), node)
    reader.finish()
    return ledger


def _names(operators: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names of entries by number: an operator that occurs twice in a query gets a second one."""
    found: list[tuple[str, str]] = []
    for id, kind in operators:
        seen = sum(name == id or name.startswith(f"{id}#") for name, _ in found)
        found.append((f"{id}#{seen + 1}" if seen else id, kind))
    return found


class _Reader:
    def __init__(
        self,
        ledger: BatchLedger,
        operators: Sequence[tuple[str, str]],
        before: Mapping[str, int] | None,
    ) -> None:
        self.ledger = ledger
        self._operators = operators
        self._before = before
        self._found: dict[tuple[str, tuple[str, ...]], list[int]] = {}

    def all_of(self, nodes: Sequence[Node]) -> Flow:
        """The combined rows of several nodes."""
        flows = [self._flow(node) for node in nodes]
        origins = dict.fromkeys(origin for flow in flows for origin in flow.origins)
        ungrouped = [flow.ungrouped for flow in flows if flow.ungrouped is not None]
        rows = sum(flow.rows for flow in flows)
        return Flow(rows, tuple(origins), sum(ungrouped) if ungrouped else None)

    def _flow(self, node: Node) -> Flow:
        kind = node["kind"]
        if kind == "scan":
            return self._scan(node)
        if kind in _OPERATORS:
            return self._operator(node)
        flow = self._input(node)
        return getattr(self, f"_{kind}")(node, flow)  # type: ignore[no-any-return]

    def _input(self, node: Node) -> Flow:
        return self.all_of([below for side in node["from"] for below in side])

    def tell(self, owner: str, found: Mapping[str, Any]) -> None:
        """Records an odd instant of a source or a table, if there is one."""
        if found.get("odd"):
            self.ledger.odd.append(OddInstant.of(owner, found["odd"]))

    # Sources.

    def _scan(self, node: Node) -> Flow:
        source, rows = str(node["source"]), int(node["out"])
        if not source or source.endswith(_TICKS):
            return Flow(rows, ())
        name = re.sub(r"__\d+$", "", source)
        records = node.get("records") or {"wanted": "good", "read": rows}
        self.tell(f"source `{name}`", records)
        malformed, blank = records.get("malformed", 0), records.get("blank", 0)
        wanted = records["wanted"] == "malformed"
        good = records["read"] - malformed - blank if wanted else 0
        counts = {"in": records["read"], "out": rows, "malformed": malformed, "blank": blank}
        if wanted:
            # This reading gives the malformed rows, and leaves out the good ones.
            counts |= {"malformed": 0, "filtered": good}
            self._equal(f"source `{name}`", {"malformed": malformed}, {"rows": rows})
        else:
            terms = {"rows": rows, "malformed": malformed, "blank": blank}
            self._equal(f"source `{name}`", {"read": records["read"]}, terms)
        self._add(name, "source", counts)
        return Flow(rows, (name,))

    # What is between sources, operators and sinks.

    def _filter(self, node: Node, flow: Flow) -> Flow:
        taken = flow.rows - node["out"]
        if "__tick" in node["condition"]:
            return Flow(node["out"], flow.origins)
        place = f"a filter of {_list(flow.origins)}"
        self._equal(place, {"out": node["out"]}, {"in": flow.rows}, at_most=True)
        if "messages" in node:
            return self._messages(node, flow)
        counts = {"filtered": taken, "out": -taken}
        if (reason := _reason(node["condition"])) is not None:
            counts[f"filtered_{reason}"] = taken
        self._behind(flow, counts)
        return Flow(node["out"], flow.origins)

    def _messages(self, node: Node, flow: Flow) -> Flow:
        """The filter after the reading of messages; one of the pipeline's may be part of it."""
        malformed, blank = node["messages"]["malformed"], node["messages"]["blank"]
        taken = flow.rows - node["out"]
        self.tell(f"source {_list(flow.origins)}", node["messages"])
        counts = {"out": -taken, "malformed": malformed, "blank": blank}
        if "reason` IS NOT NULL" in node["condition"]:
            # This one reads the malformed messages, and leaves out the good ones.
            counts |= {"malformed": 0, "filtered": taken - blank}
            found = {"rows": node["out"], "malformed": malformed}
        else:
            counts["filtered"] = taken - malformed - blank
            found = {"no rows": malformed + blank, "taken": taken}
        sums = self._found.setdefault((_list(flow.origins), tuple(found)), [0, 0])
        for n, value in enumerate(found.values()):
            sums[n] += value
        self._behind(flow, counts)
        return Flow(node["out"], flow.origins)

    def finish(self) -> None:
        """Compares all readings of a source: two of them may share the counters."""
        for (names, (left, right)), sums in self._found.items():
            terms = {left: sums[0]}, {right: sums[1]}
            self._equal(f"messages of {names}", *terms, at_most=True)

    def _shuffle(self, node: Node, flow: Flow) -> Flow:
        place = f"a shuffle of {_list(flow.origins)}"
        self._equal(place, {"given": flow.rows}, {"written": node["written"]})
        self._equal(place, {"written": node["written"]}, {"read": node["out"]})
        return Flow(node["out"], flow.origins, flow.ungrouped)

    def _python(self, node: Node, flow: Flow) -> Flow:
        place = f"a Python function of {_list(flow.origins)}"
        self._equal(place, {"given": flow.rows}, {"back": node["out"]})
        return flow

    def _groups(self, node: Node, flow: Flow) -> Flow:
        below = [below for side in node["from"] for below in side]
        if len(below) == 1 and below[0]["kind"] in ("aggregate", "session"):
            if below[0]["keyed"]:
                given, taken = {"given": flow.rows}, {"groups": node["out"]}
                self._equal(f"the result of {_list(flow.origins)}", given, taken)
            return Flow(node["out"], flow.origins)
        ungrouped = flow.rows if flow.ungrouped is None else flow.ungrouped
        return Flow(node["out"], flow.origins, ungrouped)

    def _restore(self, node: Node, flow: Flow) -> Flow:
        return Flow(node["out"], flow.origins, flow.ungrouped)

    def _lookup(self, node: Node, flow: Flow) -> Flow:
        return self._fan(node, flow)

    def _rows(self, node: Node, flow: Flow) -> Flow:
        return self._fan(node, flow)

    def _fan(self, node: Node, flow: Flow) -> Flow:
        more = node["out"] - flow.rows
        if more:
            self._behind(flow, {"fanned": more, "out": more})
        return Flow(node["out"], flow.origins)

    def _uncounted(self, node: Node, flow: Flow) -> Flow:
        self.ledger.unaccounted.append(f"{node['name']} of {_list(flow.origins)} has no counter")
        return flow

    # Stateful operators.

    def _operator(self, node: Node) -> Flow:
        name, kind = self._operators[node["number"]]
        place = f"operator `{name}`"
        read = {"aggregate": self._aggregate, "session": self._session, "dedup": self._dedup}
        read |= {"join": self._join, "program": self._program, "stateful": self._stateful}
        counts, changes = read[node["kind"]](node, place)
        held = counts["held"] = int(node["held"])
        if self._before is not None and changes is not None:
            terms = {"before": self._before.get(name, 0), **changes}
            self._equal(place, {"held": held}, terms, at_most=self._outer(node))
        self._add(name, kind, counts)
        return Flow(node["out"], (name,))

    @staticmethod
    def _outer(node: Node) -> bool:
        return bool(node["kind"] == "join" and node["mode"] != "INNER")

    def _dedup(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        rows = self._input(node).rows
        late, duplicates, out = node["late"], node["duplicates"], node["out"]
        self._equal(place, {"in": rows}, {"late": late, "duplicates": duplicates, "out": out})
        counts = {"in": rows, "out": out, "late": late, "duplicates": duplicates}
        return {**counts, "expired": node["removed"]}, {"out": out, "expired": -node["removed"]}

    def _aggregate(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        merged, restored, flow = self._below_state(node)
        groups, found = flow.rows, restored - flow.rows
        late, updated, removed = node["late"], node["updated"], node["removed"]
        counts = {"in": flow.ungrouped or 0, "out": node["out"], "groups": groups, "late": late}
        counts |= {"created": updated - found, "expired": removed}
        if not node["keyed"]:
            # The single group of all rows exists even without rows.
            counts["created"] = 0
            return counts, None
        self._equal(place, {"groups": groups}, {"merged": merged})
        self._equal(place, {"groups": groups}, {"late": late, "updated": updated})
        given = {"out": node["out"]}
        if node["mode"] == "Append":
            self._equal(place, given, {"expired": removed})
        else:
            self._equal(place, given, {"updated": updated})
        return counts, {"updated": updated, "found": -found, "expired": -removed}

    def _session(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        merged, restored, flow = self._below_state(node)
        late, out = node["late"], node["out"]
        taken = flow.rows - late
        found = restored - taken
        counts = {"in": flow.ungrouped or 0, "out": out, "groups": flow.rows, "late": late}
        counts |= {"created": merged - found, "expired": out}
        self._equal(place, {"merged": merged}, {"read": restored}, at_most=True)
        return counts, {"merged": merged, "found": -found, "out": -out}

    def _below_state(self, node: Node) -> tuple[int, int, Flow]:
        """Groups after the merge with state, groups and state before it, the input."""
        ((merge,),) = node["from"]
        ((restore,),) = merge["from"]
        return int(merge["out"]), int(restore["out"]), self._input(restore)

    def _join(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        left, right = (self.all_of(side).rows for side in node["from"])
        late, added, removed = node["late"], node["updated"], node["removed"]
        both = {"left": left, "right": right}
        self._equal(place, {"late": late, "added": added}, both, at_most=True)
        counts = {"in": left + right, "in_left": left, "in_right": right, "out": node["out"]}
        counts |= {"late": late, "added": added, "unkept": left + right - late - added}
        return {**counts, "expired": removed}, {"added": added, "expired": -removed}

    def _program(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        rows = self._input(node).rows
        late, arrived = node["late"], node["arrived"]
        self._equal(place, {"in": rows}, {"late": late, "arrived": arrived})
        counts = {"in": rows, "out": node["out"], "late": late, "handled": node["handled"]}
        return counts, None

    def _stateful(self, node: Node, place: str) -> tuple[Counts, Counts | None]:
        rows = self._input(node).rows
        self.ledger.unaccounted.append(f"{place} is a {node['mode']}, which has no identity")
        return {"in": rows, "out": node["out"], "late": node["late"]}, None

    # Entries.

    def _equal(self, place: str, left: Counts, right: Counts, *, at_most: bool = False) -> None:
        self.ledger.equations.append(Equation(place, left, right, at_most))

    def _behind(self, flow: Flow, counts: Counts) -> None:
        """Counts of what follows an entry; what follows several is an entry of its own."""
        if flow.origins:
            self._add("+".join(flow.origins), "rows", counts)

    def _add(self, name: str, kind: str, counts: Counts) -> None:
        entry = self.ledger.entries.setdefault(name, {"kind": kind})
        for term, value in counts.items():
            entry[term] = entry.get(term, 0) + value


def _list(origins: Sequence[str]) -> str:
    return " and ".join(f"`{origin}`" for origin in origins) or "nothing"


def _reason(condition: str) -> str | None:
    """Why the runtime itself drops rows with a condition; None when the pipeline does."""
    if _NO_NULLS.fullmatch(condition):
        return "null"
    if _FUTURE.fullmatch(condition):
        return "future"
    return None
