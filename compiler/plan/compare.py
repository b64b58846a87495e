"""Two plans side by side: which operators, sources, sinks, queries and settings differ, and how.

Differences are keyed by ids, never by positions, so that a renamed output column or a reordered
spec is no change. ``compare_text`` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from ...contracts.json_records import Record
from ...contracts.plan import (
    Aggregate,
    Bound,
    Column,
    ComputedColumn,
    Function,
    Operator,
    Plan,
    ProgramCell,
    ProgramInput,
    Query,
    ReadColumn,
    Side,
    Sink,
    Source,
    Table,
    Timer,
    Use,
    Watermark,
    Window,
    aggregates_of,
    cells_of,
    inputs_of,
    keys_of,
    sides_of,
    timers_of,
)
from ...contracts.records import dataclass

T = TypeVar("T")


class Difference(StrEnum):
    """How something differs between two plans.

    An operator whose ``MEANING`` changed keeps the same of other rows; only a migration finds that.
    """

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MEANING = "layout unchanged, meaning changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference in something that is in both plans.

    ``old`` is None for an added part, ``new`` for a removed one.
    """

    part: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """The change of an operator (``aggregate``), source (``files``), sink or query."""

    id: str
    kind: str
    difference: Difference
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """All parts of two plans by id, in the order of the new one, then those only in the old one."""

    operators: tuple[Change, ...]
    sources: tuple[Change, ...]
    sinks: tuple[Change, ...]
    queries: tuple[Change, ...]
    settings: tuple[Edit, ...] = ()
    tables: tuple[Change, ...] = ()
    functions: tuple[Change, ...] = ()

    @property
    def touches_state(self) -> bool:
        """Whether anything that owns state or offsets differs."""
        owners = (*self.operators, *self.sources, *self.queries)
        return any(change.difference is not Difference.UNCHANGED for change in owners)


def compare_plans(old: Plan, new: Plan) -> PlanChanges:
    """Return what differs between two plans of one pipeline, as far as the plans show it.

    Where rows come from is not compared; ``migrate.results.differences`` adds what follows from it.
    """
    return PlanChanges(
        operators=_compare(old.operators, new.operators, _operator_kind, _operator_edits),
        sources=_compare(old.sources, new.sources, _connector, _source_edits),
        sinks=_compare(old.sinks, new.sinks, _connector, _sink_edits),
        queries=_compare(old.queries, new.queries, _query_kind, _query_edits),
        settings=tuple(_setting_edits(old, new)),
        tables=_compare(old.tables, new.tables, _connector, _source_edits),
        functions=_compare(old.functions, new.functions, _function_kind, _function_edits),
    )


def _compare(
    old: Mapping[str, T],
    new: Mapping[str, T],
    kind: Callable[[T], str],
    edits: Callable[[T, T], Iterator[Edit]],
) -> tuple[Change, ...]:
    changes = []
    for id_, entry in new.items():
        if id_ not in old:
            changes.append(Change(id_, kind(entry), Difference.ADDED))
            continue
        found = tuple(edits(old[id_], entry))
        changes.append(
            Change(id_, kind(entry), Difference.CHANGED if found else Difference.UNCHANGED, found)
        )
    gone = (Change(id_, kind(old[id_]), Difference.REMOVED) for id_ in old if id_ not in new)
    return (*changes, *gone)


def _operator_kind(operator: Operator) -> str:
    return operator.KIND


def _connector(end: Source | Table | Sink) -> str:
    return end.connector


def _function_kind(function: Function) -> str:
    return "python"


def _function_edits(old: Function, new: Function) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"parameters"}))
    yield from _columns("parameter", old.parameters, new.parameters)


def _query_kind(query: Query) -> str:
    return query.output_mode


# Operators.


def _operator_edits(old: Operator, new: Operator) -> Iterator[Edit]:
    yield from _values(old, new, _OPERATOR_PARTS | _TOLD_BY_A_MIGRATION)
    yield from _columns("key", keys_of(old), keys_of(new))
    yield from _inputs(inputs_of(old), inputs_of(new))
    yield from _cells(cells_of(old), cells_of(new))
    yield from _timers(timers_of(old), timers_of(new))
    yield from _aggregates(aggregates_of(old), aggregates_of(new))
    yield from _sides(sides_of(old), sides_of(new))


_OPERATOR_PARTS = frozenset({"keys", "aggregates", "sides", "inputs", "cells", "timers"})
"""Fields compared part by part; all others of an operator are compared whole."""

_TOLD_BY_A_MIGRATION = frozenset(
    {
        "stream",
        "returns",
        "class",
        "columns",
        "input",
        "also",
        "declared",
        "statements",
        "given",
    }
)
"""Fields about where rows come from and where they go, which do not affect state."""


def _aggregates(old: Sequence[Aggregate], new: Sequence[Aggregate]) -> Iterator[Edit]:
    before = {cell.id: cell.type for aggregate in old for cell in aggregate.cells}
    after = {cell.id: cell.type for aggregate in new for cell in aggregate.cells}
    yield from _named("cell", before, after)
    yield from _order("order of aggregates", [a.id for a in old], [a.id for a in new])


def _inputs(old: Sequence[ProgramInput], new: Sequence[ProgramInput]) -> Iterator[Edit]:
    """Yield edits of a program's inputs by position, which identifies waiting rows."""
    before, after = (
        {str(place): _input(one) for place, one in enumerate(side, 1)} for side in (old, new)
    )
    yield from _named("input", before, after)


def _input(one: ProgramInput) -> str:
    return one.relation if one.event_time is None else f"{one.relation} by {one.event_time}"


def _cells(old: Sequence[ProgramCell], new: Sequence[ProgramCell]) -> Iterator[Edit]:
    before, after = ({cell.id: _cell(cell) for cell in side} for side in (old, new))
    yield from _named("cell", before, after)
    yield from _order("order of cells", list(before), list(after))


def _cell(cell: ProgramCell) -> str:
    type_ = cell.type if cell.kind in ("value", "map") else cell.entry
    words = [cell.kind if cell.kind != "map" else "", type_ or "unknown type"]
    words += [f"DEFAULT {cell.default}"] if cell.default is not None else []
    words += [f"for {cell.ttl}"] if cell.ttl is not None else []
    return " ".join(word for word in words if word)


def _timers(old: Sequence[Timer], new: Sequence[Timer]) -> Iterator[Edit]:
    before, after = ({t.id: f"{t.time} time" for t in side} for side in (old, new))
    yield from _named("timer", before, after)
    yield from _order("order of timers", list(before), list(after))


def _sides(old: Sequence[Side], new: Sequence[Side]) -> Iterator[Edit]:
    for name, before, after in zip(("left", "right"), old, new, strict=False):
        for edit in _values(before, after, frozenset({"keys", "columns", "input"})):
            yield Edit(f"{name} {edit.part}", edit.old, edit.new)
        yield from _columns(f"{name} key", before.keys, after.keys)
        yield from _columns(f"{name} column", before.columns, after.columns)


# Settings, sources, sinks and queries.


def _setting_edits(old: Plan, new: Plan) -> Iterator[Edit]:
    for part, was, now in (
        ("pipeline", old.pipeline, new.pipeline),
        ("version", old.version, new.version),
    ):
        if was != now:
            yield Edit(part, _text(was), _text(now))
    before, after = old.settings, new.settings
    yield from _values(before, after, frozenset({"variables", "spark", "profiles"}))
    yield from _named("variable", _spelled(before.variables), _spelled(after.variables))
    yield from _named("spark", before.spark, after.spark)
    yield from _named("profile", before.profiles, after.profiles)
    yield from _named("checkpoint", old.checkpoint.parts(), new.checkpoint.parts())


def _spelled(variables: Mapping[str, str | None]) -> Mapping[str, str]:
    """Return variables with a word for a missing default, so that they are not taken for absent."""
    return {key: "(to be given)" if value is None else value for key, value in variables.items()}


def _source_edits(old: Source | Table, new: Source | Table) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"options", "columns", "computed"}))
    yield from _named("option", old.options, new.options)
    yield from _columns("column", old.columns, new.columns)
    yield from _columns("computed column", old.computed, new.computed)


def _sink_edits(old: Sink, new: Sink) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"options"}))
    yield from _named("option", old.options, new.options)


def _query_edits(old: Query, new: Query) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"operators", "sinks", "sources", "tables"}))
    yield from _present("sink", old.sinks, new.sinks)
    yield from _present("source", old.sources, new.sources)
    yield from _present("table", old.tables, new.tables)
    before, after = ({use.id: use for use in query.operators} for query in (old, new))
    yield from _present("operator", before, after)
    yield from _order("order of operators", list(before), list(after))
    for id_ in after:
        if id_ in before:
            yield from _uses(before[id_], after[id_])


def _uses(old: Use, new: Use) -> Iterator[Edit]:
    """Yield edits of the aggregates or columns of an operator that a query keeps in its state."""
    yield from _present(f"{new.id} keeps", old.aggregates or (), new.aggregates or ())
    before, after = _kept_columns(old), _kept_columns(new)
    for name, columns in after.items():
        if name in before:
            yield from _present(
                f"{new.id} keeps {name}",
                [column.name for column in before[name]],
                [column.name for column in columns],
            )


def _kept_columns(use: Use) -> Mapping[str, Sequence[Column]]:
    """Return the columns that an operator keeps of each input: of a join or of waiting rows."""
    return {**dict(zip(("left", "right"), use.columns or (), strict=False)), **(use.waiting or {})}


# Shared parts.


def _values(old: Record, new: Record, apart: frozenset[str]) -> Iterator[Edit]:
    """Yield edits of fields that differ, except those compared separately or not at all."""
    before, after = old.parts(), new.parts()
    for name in dict.fromkeys((*after, *before)):
        was, now = before.get(name), after.get(name)
        if name not in apart and was != now:
            yield Edit(name.replace("_", " "), _text(was), _text(now))


def _columns(part: str, old: Sequence[Column], new: Sequence[Column]) -> Iterator[Edit]:
    before, after = ({column.name: _column(column) for column in side} for side in (old, new))
    yield from _named(part, before, after)
    yield from _order(f"order of {part}s", list(before), list(after))


def _column(column: Column) -> str:
    words = column.type or "unknown type"
    match column:
        case ReadColumn(nullable=False):
            return f"{words} NOT NULL"
        case ComputedColumn(expression=expression):
            return f"{words} AS {expression}"
    return words


def _present(part: str, old: Iterable[str], new: Iterable[str]) -> Iterator[Edit]:
    """Yield edits for names that were added or removed."""
    yield from _named(part, dict.fromkeys(old, ""), dict.fromkeys(new, ""))


def _named(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Edit]:
    """Yield edits for names that were added, removed, or mean something else."""
    for name in dict.fromkeys((*new, *old)):
        before, after = (_text(side[name]) if name in side else None for side in (old, new))
        if before != after:
            yield Edit(f"{part} {name}", before, after)


def _order(part: str, old: list[str], new: list[str]) -> Iterator[Edit]:
    """Yield an edit if the items in both lists are in another order."""
    before, after = ([name for name in side if name in old and name in new] for side in (old, new))
    if before != after:
        yield Edit(part, ", ".join(before), ", ".join(after))


def _text(value: Any) -> str | None:
    """Return a value of a plan in words."""
    match value:
        case None:
            return None
        case Window():
            return f"{value.kind} on {value.column}, {', '.join(value.lengths())}"
        case Bound(lower_micros=lower, upper_micros=upper):
            return f"{_length(lower)} to {_length(upper)}"
        case Watermark(column=column, delay=delay):
            return f"{column} - {delay}"
        case Record():
            return _text(value.parts())
        case Mapping():
            return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items())
        case list() | tuple():
            return ", ".join(str(_text(item)) for item in value)
    return str(value)


_UNITS = (("hours", 3_600_000_000), ("minutes", 60_000_000), ("seconds", 1_000_000))


def _length(micros: int) -> str:
    """Return a duration in the largest unit that divides it."""
    for unit, size in _UNITS:
        if micros % size == 0:
            number = micros // size
            return f"{number} {unit if abs(number) != 1 else unit.removesuffix('s')}"
    return f"{micros} microseconds"
