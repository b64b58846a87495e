"""The ledger of a batch from the counters of Spark's plan.

The kernel gives a tree: each node has a kind, its counters, and its inputs, one for a chain and two
for a join, each a list of the nodes whose rows it gets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..kinds.counts import Counted, Counts, Equation, Flow, OddValue, PlanNode, Reading
from ..kinds.registry import KINDS
from .ledger import BatchLedger
from .remarks import OddInstant

_TICKS = "__ticks"
_HELD = r"\(*(?:`?[\w.`]+`? IS NOT NULL|intime\(`?[\w.`]+`?(?:, -?\d+L?)*\))\)*"
_NO_NULLS = re.compile(rf"{_HELD}(?: AND {_HELD})*")
_FUTURE = re.compile(r"\(\((.+) IS NULL\) OR \(\1 <= (?:TIMESTAMP '|epochinstant\(\)).*\)\)")
"""Conditions are known by their text alone: Spark's optimizer has rewritten, split and merged them,
so that no mark on the expressions that we wrote is left in its plan."""


def read_counts(
    query: str,
    batch: int,
    plan: Sequence[PlanNode],
    operators: Sequence[tuple[str, str]],
    before: Mapping[str, int] | None,
) -> BatchLedger:
    """The ledger of a batch.

    `operators` are the id and kind of the query's stateful operators by Spark's numbers, `before`
    is what each held after the previous batch, if known.
    """
    reader = _Reader(BatchLedger(query, batch), _names(operators), before)
    ledger = reader.ledger
    ledger.rows = reader.all_of([node for node in plan if node.kind != "table"]).rows
    for node in plan:
        if node.kind == "table":
            reader.tell(node.texts["owner"], node.odd)
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

    def all_of(self, nodes: Sequence[PlanNode]) -> Flow:
        """The combined rows of several nodes."""
        flows = [self._flow(node) for node in nodes]
        origins = dict.fromkeys(origin for flow in flows for origin in flow.origins)
        ungrouped = [flow.ungrouped for flow in flows if flow.ungrouped is not None]
        rows = sum(flow.rows for flow in flows)
        return Flow(rows, tuple(origins), sum(ungrouped) if ungrouped else None)

    def _flow(self, node: PlanNode) -> Flow:
        if node.kind == "scan":
            return self._scan(node)
        if "number" in node.counters:
            return self._operator(node)
        flow = self._input(node)
        return getattr(self, f"_{node.kind}")(node, flow)  # type: ignore[no-any-return]

    def _input(self, node: PlanNode) -> Flow:
        return self.all_of(node.below)

    def tell(self, owner: str, odd: OddValue | None) -> None:
        """Records an odd instant of a source or a table, if there is one."""
        if odd is not None:
            self.ledger.odd.append(OddInstant.of(owner, odd))

    # Sources.

    def _scan(self, node: PlanNode) -> Flow:
        source, rows = node.texts["source"], node.out
        if not source or source.endswith(_TICKS):
            return Flow(rows, ())
        name = re.sub(r"__\d+$", "", source)
        records = node.records or Reading(rows, malformed=0, blank=0, wanted="good", odd=None)
        self.tell(f"source `{name}`", records.odd)
        read, malformed, blank = records.read, records.malformed, records.blank
        wanted = records.wanted == "malformed"
        good = read - malformed - blank if wanted else 0
        counts = {"in": read, "out": rows, "malformed": malformed, "blank": blank}
        if wanted:
            # This reading gives the malformed rows, and leaves out the good ones.
            counts |= {"malformed": 0, "filtered": good}
            self._equal(f"source `{name}`", {"malformed": malformed}, {"rows": rows})
        else:
            terms = {"rows": rows, "malformed": malformed, "blank": blank}
            self._equal(f"source `{name}`", {"read": read}, terms)
        self._add(name, "source", counts)
        return Flow(rows, (name,))

    # What is between sources, operators and sinks.

    def _filter(self, node: PlanNode, flow: Flow) -> Flow:
        taken = flow.rows - node.out
        if "__tick" in node.texts["condition"]:
            return Flow(node.out, flow.origins)
        place = f"a filter of {_list(flow.origins)}"
        self._equal(place, {"out": node.out}, {"in": flow.rows}, at_most=True)
        if node.messages is not None:
            return self._messages(node, node.messages, flow)
        counts = {"filtered": taken, "out": -taken}
        if (reason := _reason(node.texts["condition"])) is not None:
            counts[f"filtered_{reason}"] = taken
        self._behind(flow, counts)
        return Flow(node.out, flow.origins)

    def _messages(self, node: PlanNode, reading: Reading, flow: Flow) -> Flow:
        """The filter after the reading of messages; one of the pipeline's may be part of it."""
        malformed, blank = reading.malformed, reading.blank
        taken = flow.rows - node.out
        self.tell(f"source {_list(flow.origins)}", reading.odd)
        counts = {"out": -taken, "malformed": malformed, "blank": blank}
        if "reason` IS NOT NULL" in node.texts["condition"]:
            # This one reads the malformed messages, and leaves out the good ones.
            counts |= {"malformed": 0, "filtered": taken - blank}
            found = {"rows": node.out, "malformed": malformed}
        else:
            counts["filtered"] = taken - malformed - blank
            found = {"no rows": malformed + blank, "taken": taken}
        sums = self._found.setdefault((_list(flow.origins), tuple(found)), [0, 0])
        for n, value in enumerate(found.values()):
            sums[n] += value
        self._behind(flow, counts)
        return Flow(node.out, flow.origins)

    def finish(self) -> None:
        """Compares all readings of a source: two of them may share the counters."""
        for (names, (left, right)), sums in self._found.items():
            terms = {left: sums[0]}, {right: sums[1]}
            self._equal(f"messages of {names}", *terms, at_most=True)

    def _shuffle(self, node: PlanNode, flow: Flow) -> Flow:
        place = f"a shuffle of {_list(flow.origins)}"
        self._equal(place, {"given": flow.rows}, {"written": node.count("written")})
        self._equal(place, {"written": node.count("written")}, {"read": node.out})
        return Flow(node.out, flow.origins, flow.ungrouped)

    def _python(self, node: PlanNode, flow: Flow) -> Flow:
        place = f"a Python function of {_list(flow.origins)}"
        self._equal(place, {"given": flow.rows}, {"back": node.out})
        return flow

    def _groups(self, node: PlanNode, flow: Flow) -> Flow:
        below = node.below
        if len(below) == 1 and below[0].kind in ("aggregate", "session"):
            if below[0].keyed:
                given, taken = {"given": flow.rows}, {"groups": node.out}
                self._equal(f"the result of {_list(flow.origins)}", given, taken)
            return Flow(node.out, flow.origins)
        ungrouped = flow.rows if flow.ungrouped is None else flow.ungrouped
        return Flow(node.out, flow.origins, ungrouped)

    def _restore(self, node: PlanNode, flow: Flow) -> Flow:
        return Flow(node.out, flow.origins, flow.ungrouped)

    def _lookup(self, node: PlanNode, flow: Flow) -> Flow:
        return self._fan(node, flow)

    def _rows(self, node: PlanNode, flow: Flow) -> Flow:
        return self._fan(node, flow)

    def _fan(self, node: PlanNode, flow: Flow) -> Flow:
        more = node.out - flow.rows
        if more:
            self._behind(flow, {"fanned": more, "out": more})
        return Flow(node.out, flow.origins)

    def _uncounted(self, node: PlanNode, flow: Flow) -> Flow:
        name = node.texts["name"]
        self.ledger.unaccounted.append(f"{name} of {_list(flow.origins)} has no counter")
        return flow

    # Stateful operators.

    def _operator(self, node: PlanNode) -> Flow:
        name, kind = self._operators[node.count("number")]
        place = f"operator `{name}`"
        counted = self._counted(node, kind, place)
        self.ledger.equations += counted.equations
        held = counted.counts["held"] = node.count("held")
        if self._before is not None and counted.changes is not None:
            terms = {"before": self._before.get(name, 0), **counted.changes}
            self._equal(place, {"held": held}, terms, at_most=counted.at_most)
        self._add(name, kind, counted.counts)
        return Flow(node.out, (name,))

    def _counted(self, node: PlanNode, kind: str, place: str) -> Counted:
        if node.kind != "stateful":
            return KINDS[kind].counts(node, place, self.all_of)
        rows = self._input(node).rows
        self.ledger.unaccounted.append(f"{place} is a {node.mode}, which has no identity")
        return Counted({"in": rows, "out": node.out, "late": node.count("late")})

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
