"""Cells of aggregates: each new one from old ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....contracts.migration import CellChange
from ....contracts.plan import Aggregate, AggregateCell, Aggregation
from ....contracts.plan import aggregates_of as all_aggregates_of
from ....contracts.records import dataclass
from ....dsl.format import identifier
from ..compared.recompute import COMPUTED
from ..compared.versions import Meaning, Versions, aggregates_of, meaning, never_null
from ..findings.changes import made_cell
from ..findings.verdicts import Decision, Finding, Verdict
from ..inputs.rows import listed
from ..types.conversions import Held, convert, in_its_type, rounded
from .buffers import merging_call, shows_order
from .derive import Derived, Sense, counts_rows, derive, sense
from .merges import BUFFERS, is_opaque, merge_of, start_of


@dataclass(frozen=True, slots=True)
class NewCell:
    """A new cell: its finding, and the SQL that computes it; None where it is not computed."""

    finding: Finding
    expression: str | None = None


@dataclass(frozen=True, slots=True)
class CellPlan:
    """The migration of all cells, and what the runtime does for the new ones."""

    findings: tuple[Finding, ...]
    made: tuple[CellChange, ...]
    backfill: tuple[str, ...]


_IN_PARTS = "the values of one group stand behind those of another, not as they came"
"""The finding about a list with a visible order."""


def plan_cells(versions: Versions, old: Aggregation, new: Aggregation, *, merges: bool) -> CellPlan:
    """Return the migration of a continuing aggregate's cells; ``merges``: whether groups merge."""
    return _Cells(versions, old, new, merges).plan()


def empty_cells(aggregates: Sequence[Aggregate]) -> list[CellChange]:
    """Return cells with Spark's initial values."""
    return [_start(aggregate, cell) for aggregate in aggregates for cell in aggregate.cells]


def _is_opaque(aggregate: Aggregate) -> bool:
    return any(is_opaque(aggregate, cell) for cell in aggregate.cells)


def _only_computed(
    new: Aggregate, cell: AggregateCell, why: str, old: str | None, path: tuple[str, ...]
) -> Finding:
    """Return the finding of a cell whose empty buffer only Spark makes, at a group's first row."""
    return Finding(
        *("cell", old, cell.id, Verdict.IMPOSSIBLE),
        f"{why}, and groups that are there can't begin with an empty one: only Spark makes that",
        f'`accept: {{"{new.id}": backfill}}` computes it from retained rows; or leave it out',
        open=Decision(path, "backfill", ("backfill",)),
    )


def _start(aggregate: Aggregate, cell: AggregateCell) -> CellChange:
    begun = made_cell(cell.id, start_of(aggregate, cell), "any")
    return replace(begun, empty=True, opaque=is_opaque(aggregate, cell))


class _Cells:
    def __init__(
        self, versions: Versions, old: Aggregation, new: Aggregation, merges: bool
    ) -> None:
        self._versions, self._id, self._merges = versions, new.id, merges
        self._old = aggregates_of(versions.old, old.id)
        self._new = aggregates_of(versions.new, new.id)
        self._old_inputs, self._new_inputs = old.input, new.input
        self._columns = new.columns or {}
        self._known = {
            found: one for one in self._old if (found := sense(self._old_sense(one))) is not None
        }

    def plan(self) -> CellPlan:
        pairs = self._pairs()
        findings: list[Finding] = []
        cells: list[CellChange] = []
        backfill: list[str] = []
        for aggregate in self._new:
            for cell, made in zip(
                aggregate.cells, self._made(aggregate, pairs.get(aggregate.id)), strict=True
            ):
                findings.append(made.finding)
                cells.append(self._change(aggregate, cell, made))
                backfill += [cell.id] if made.finding.verdict is Verdict.BACKFILL else []
        told = {finding.old for finding in findings}
        findings += self._dropped(told)
        return CellPlan(tuple(findings), tuple(cells), tuple(backfill))

    def _old_sense(self, aggregate: Aggregate) -> Meaning:
        return meaning((branch.aggregates for branch in self._old_inputs), aggregate.id)

    def _new_sense(self, aggregate: Aggregate) -> Meaning:
        return meaning((branch.aggregates for branch in self._new_inputs), aggregate.id)

    def _pairs(self) -> dict[str, Aggregate]:
        """Return the old aggregate of each new one: as decided, else that of the same meaning."""
        decided = {new: old for old, new in self._renames().items()}
        pairs: dict[str, Aggregate] = {}
        for new in self._new:
            for old in self._old:
                if new.id in decided:
                    same = decided[new.id] == old.id
                else:
                    alike = self._old_sense(old) == self._new_sense(new)
                    same = alike and old.function == new.function
                if same and old.id not in {one.id for one in pairs.values()}:
                    pairs.setdefault(new.id, old)
        return pairs

    def _renames(self) -> dict[str, str]:
        below = self._versions.decisions.below("operators", self._id, "rename")
        for old in below:
            self._versions.decisions.get("operators", self._id, "rename", old)
        return below

    def _made(self, new: Aggregate, old: Aggregate | None) -> list[NewCell]:
        made = self._carried(new, old) if old is not None else self._derived(new)
        if made is None:
            why = self._why_new(new)
            made = [NewCell(self._begins(new, cell, why)) for cell in new.cells]
        cells = new.cells
        made = [self._decided(cell) or one for cell, one in zip(cells, made, strict=True)]
        return [self._merged(new, cell, one) for cell, one in zip(cells, made, strict=True)]

    # One aggregate.

    def _decided(self, cell: AggregateCell) -> NewCell | None:
        expression = self._versions.decisions.get("operators", self._id, "set", cell.id)
        if expression is None:
            return None
        ids = [one.id for aggregate in self._old for one in aggregate.cells]
        was = cell.id if cell.id in ids else None
        why = f"as decided: {expression}"
        return NewCell(Finding("cell", was, cell.id, Verdict.CONVERTED, why), expression)

    def _carried(self, new: Aggregate, old: Aggregate) -> list[NewCell]:
        before, after = old.cells, new.cells
        if [c.buffer for c in before] != [c.buffer for c in after]:
            return self._other_buffers(new, old)
        return [self._converted(was, now, old, new) for was, now in zip(before, after, strict=True)]

    def _converted(
        self, was: AggregateCell, now: AggregateCell, old: Aggregate, new: Aggregate
    ) -> NewCell:
        column = in_its_type(identifier(was.id), was.type)
        expression = convert(column, _held(was), _held(now))
        if not _given_alike(old, new):
            why = f"it holds values of {_types(old)} in Spark's own form, not of {_types(new)}"
            return self._refused(new, now, why, was.id)
        if expression is None:
            path = ("operators", self._id, "set", now.id)
            why = f"{_spelled(now)} does not hold all of {_spelled(was)}"
            draft = Decision(path, rounded(column, _held(was), _held(now)))
            finding = Finding(
                *("cell", was.id, now.id, Verdict.CONVERTED, why, "say how, by `set`"),
                open=draft,
            )
            return NewCell(finding, draft.value)
        if expression != column:
            why = f"{_spelled(was)} to {_spelled(now)}, exactly"
            return NewCell(Finding("cell", was.id, now.id, Verdict.CONVERTED, why), expression)
        alike = self._old_sense(old) == self._new_sense(new)
        why = "" if was.id == now.id else f"it was called `{was.id}`"
        why = why if alike else f"it was `{' or '.join(self._old_sense(old))}`, as decided"
        finding = Finding("cell", was.id, now.id, Verdict.KEPT, why, marked=not alike)
        return NewCell(finding, expression)

    def _other_buffers(self, new: Aggregate, old: Aggregate) -> list[NewCell]:
        """Carry a sum of decimals across the width from which Spark records whether it is empty."""
        was, now = old.cells[0], new.cells[0]
        column = identifier(was.id)
        total = convert(column, _held(was), _held(now))
        if new.function != "sum" or len(old.cells) != 1 or total is None:
            why = "the aggregate keeps other things for this type"
            return [self._refused(new, cell, why, None) for cell in new.cells]
        why = f"{_spelled(was)} to {_spelled(now)}, exactly"
        zero = f"coalesce({total}, CAST(0 AS {now.type}))"
        empty = new.cells[1]
        return [
            NewCell(Finding("cell", was.id, now.id, Verdict.CONVERTED, why), zero),
            NewCell(
                Finding("cell", None, empty.id, Verdict.DERIVED, f"from `{was.id}`"),
                f"{column} IS NULL",
            ),
        ]

    def _derived(self, new: Aggregate) -> list[NewCell] | None:
        wanted = sense(self._new_sense(new))
        if wanted is None:
            return None
        found = derive(wanted, new, self._known, self._never_null(wanted.arguments))
        if found is None and wanted == Sense(
            "count", ("*",) * len(wanted.arguments), wanted.filter
        ):
            found = counts_rows(self._known, wanted.filter, self._never_null)
        return None if found is None else self._told(new, found)

    def _told(self, new: Aggregate, found: Derived) -> list[NewCell]:
        why = f"from {listed(found.sources)}"
        return [
            NewCell(Finding("cell", None, cell.id, Verdict.DERIVED, why), expression)
            for cell, expression in zip(new.cells, found.cells, strict=True)
        ]

    def _never_null(self, arguments: Meaning) -> bool:
        """Whether a column is never NULL: declared so by its source, in both versions."""
        return never_null(self._versions.old, self._old_inputs, arguments) and never_null(
            self._versions.new, self._new_inputs, arguments
        )

    # What does not continue.

    def _why_new(self, new: Aggregate) -> str:
        if any(old.id == new.id for old in self._old):
            return f"it computes `{' or '.join(self._new_sense(new))}` now, which is another value"
        old = self._versions.old.operators.get(self._id)
        if old is not None and new.id in {one.id for one in all_aggregates_of(old)}:
            return "no query read it, so no state has it"
        return "nothing that is kept tells it"

    def _begins(
        self, new: Aggregate, cell: AggregateCell, why: str, old: str | None = None
    ) -> Finding:
        """Return the finding of a cell without an old one: empty, or computed from history."""
        path = ("operators", self._id, "accept", new.id)
        word = self._versions.decisions.get(*path)
        if self._added(new.id):
            word = word or "empty"
        if word != "backfill" and _is_opaque(new):
            return _only_computed(new, cell, why, old, path)
        verdict = Verdict.BACKFILL if word == "backfill" else Verdict.EMPTY
        open_ = (
            None
            if word in ("empty", "backfill")
            else Decision(path, "empty", ("empty", "backfill"))
        )
        fix = None if open_ is None else "accept it, or have it computed from retained rows"
        if verdict is Verdict.BACKFILL:
            why = COMPUTED
        return Finding(
            *("cell", old, cell.id, verdict, why, fix),
            marked=verdict is Verdict.EMPTY,
            open=open_,
        )

    def _added(self, id_: str) -> bool:
        decisions = self._versions.decisions
        names = decisions.below("operators", self._id, "add")
        for name, value in names.items():
            if value == id_:
                decisions.get("operators", self._id, "add", name)
        return id_ in names.values()

    def _refused(self, new: Aggregate, cell: AggregateCell, why: str, old: str | None) -> NewCell:
        """Return the finding of a cell that can't be carried over; if accepted, it begins empty."""
        path = ("operators", self._id, "accept", new.id)
        decided = self._versions.decisions.get(*path) is not None or self._added(new.id)
        if decided or _is_opaque(new):
            return NewCell(self._begins(new, cell, why, old))
        fix = f'`accept: {{"{new.id}": empty}}` begins anew, `backfill` computes it again'
        return NewCell(
            Finding(
                *("cell", old, cell.id, Verdict.IMPOSSIBLE, why, fix),
                open=Decision(path, "empty", ("empty", "backfill")),
            )
        )

    def _merged(self, new: Aggregate, cell: AggregateCell, made: NewCell) -> NewCell:
        """Return the finding of a cell where groups merge."""
        if not self._merges or made.expression is None:
            return made
        if any(merge_of(new, one) is None for one in new.cells):
            why = f"`{new.id}` of several groups can't be made one"
            return self._refused(new, cell, why, made.finding.old)
        finding = made.finding
        if finding.verdict is Verdict.KEPT:
            finding = replace(finding, verdict=Verdict.MERGED)
        if shows_order(new, self._columns):
            why = "; ".join(part for part in (finding.why, _IN_PARTS) if part)
            finding = replace(finding, why=why, marked=True)
        return replace(made, finding=finding)

    def _dropped(self, told: set[str | None]) -> Iterator[Finding]:
        wanted = {one.id for one in self._new}
        for aggregate in self._old:
            for cell in aggregate.cells:
                if cell.id not in told:
                    why = "nothing reads it any more"
                    if aggregate.id in wanted:
                        why = f"it was `{' or '.join(self._old_sense(aggregate))}`"
                    yield Finding("cell", cell.id, None, Verdict.DROPPED, why)

    def _change(self, aggregate: Aggregate, cell: AggregateCell, made: NewCell) -> CellChange:
        if made.expression is None:
            return _start(aggregate, cell)
        merge = merge_of(aggregate, cell) if self._merges else None
        of = merging_call(aggregate) if merge == BUFFERS else None
        return made_cell(cell.id, made.expression, merge, of)


def _held(cell: AggregateCell) -> Held:
    return cell.type, cell.scale


def _spelled(cell: AggregateCell) -> str:
    """Return how a cell holds its values: decimals may be unscaled whole numbers."""
    scale = cell.scale
    return str(cell.type) if scale is None else f"{cell.type} of DECIMAL(…,{scale})"


def _given_alike(old: Aggregate, new: Aggregate) -> bool:
    """Whether aggregates have arguments of the same types, as far as both plans say."""
    before, after = old.given, new.given
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(a == b or None in (a, b) for a, b in pairs)


def _types(aggregate: Aggregate) -> str:
    return ", ".join(str(type_) for type_ in aggregate.given)
