"""Two plans side by side: which operators, sources, sinks, queries, settings differ, and in what.

A pure function of two ``plan.json`` documents. What it finds is keyed by ids, never by positions,
so that a renamed output column or a reordered spec is no change. ``compare_text`` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from ...dsl.records import dataclass

Json = Mapping[str, Any]
"""An object of a plan: what its keys hold is the plan's format."""


class Fate(StrEnum):
    """What became of something between two plans."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference inside something that is in both plans.

    ``old`` is None for a part that came, ``new`` for one that went.
    """

    part: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an operator (``aggregate``), source (``files``), sink or query."""

    id: str
    kind: str
    fate: Fate
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """All of two plans by id, in the order of the new one, then what only the old one has."""

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
        return any(change.fate is not Fate.UNCHANGED for change in owners)


def compare_plans(old: Json, new: Json) -> PlanChanges:
    """Return what differs between two plans of one pipeline."""
    return PlanChanges(
        operators=_compare(old["operators"], new["operators"], _operator_kind, _operator_edits),
        sources=_compare(old["sources"], new["sources"], _connector, _source_edits),
        sinks=_compare(old["sinks"], new["sinks"], _connector, _sink_edits),
        queries=_compare(old["queries"], new["queries"], _query_kind, _query_edits),
        settings=tuple(_setting_edits(old, new)),
        tables=_compare(old.get("tables", {}), new.get("tables", {}), _connector, _source_edits),
        functions=_compare(
            old.get("functions", {}), new.get("functions", {}), _function_kind, _function_edits
        ),
    )


def _compare(
    old: Json,
    new: Json,
    kind: Callable[[Json], str],
    edits: Callable[[Json, Json], Iterator[Edit]],
) -> tuple[Change, ...]:
    changes = []
    for id_, entry in new.items():
        if id_ not in old:
            changes.append(Change(id_, kind(entry), Fate.ADDED))
            continue
        found = tuple(edits(old[id_], entry))
        changes.append(Change(id_, kind(entry), Fate.CHANGED if found else Fate.UNCHANGED, found))
    gone = (Change(id_, kind(old[id_]), Fate.REMOVED) for id_ in old if id_ not in new)
    return (*changes, *gone)


def _operator_kind(entry: Json) -> str:
    return str(entry["kind"])


def _connector(entry: Json) -> str:
    return str(entry["connector"])


def _function_kind(entry: Json) -> str:
    return "python"


def _function_edits(old: Json, new: Json) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"parameters"}), set())
    yield from _columns("parameter", old["parameters"], new["parameters"])


def _query_kind(entry: Json) -> str:
    return str(entry["output_mode"])


# Operators.


def _operator_edits(old: Json, new: Json) -> Iterator[Edit]:
    yield from _values(old, new, _OPERATOR_PARTS, _TOLD_BY_A_MIGRATION)
    yield from _columns("key", old.get("keys", ()), new.get("keys", ()))
    yield from _inputs(old.get("inputs", ()), new.get("inputs", ()))
    yield from _cells(old.get("cells", ()), new.get("cells", ()))
    yield from _timers(old.get("timers", ()), new.get("timers", ()))
    yield from _aggregates(old.get("aggregates", ()), new.get("aggregates", ()))
    yield from _sides(old.get("sides", ()), new.get("sides", ()))


_OPERATOR_PARTS = frozenset({"keys", "aggregates", "sides", "inputs", "cells", "timers"})
"""What is compared part by part; all else of an operator is compared as a whole."""

_TOLD_BY_A_MIGRATION = {
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
"""What says where rows come from and what becomes of them: no part of what state holds."""


def _aggregates(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    before = {cell["id"]: cell["type"] for aggregate in old for cell in aggregate["cells"]}
    after = {cell["id"]: cell["type"] for aggregate in new for cell in aggregate["cells"]}
    yield from _named("cell", before, after)
    yield from _order("order of aggregates", [a["id"] for a in old], [a["id"] for a in new])


def _inputs(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    """Tell of the inputs of a program by their places, which rows that wait are known by."""
    before, after = (
        {str(place): _input(one) for place, one in enumerate(side, 1)} for side in (old, new)
    )
    yield from _named("input", before, after)


def _input(one: Json) -> str:
    time = one["event_time"]
    return f"{one['relation']} by {time}" if time is not None else str(one["relation"])


def _cells(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    before, after = ({cell["id"]: _cell(cell) for cell in side} for side in (old, new))
    yield from _named("cell", before, after)
    yield from _order("order of cells", list(before), list(after))


def _cell(cell: Json) -> str:
    type_ = cell["type"] if cell["kind"] in ("value", "map") else cell["entry"]
    words = [str(cell["kind"]) if cell["kind"] != "map" else "", str(type_ or "unknown type")]
    words += [f"DEFAULT {cell['default']}"] if cell["default"] is not None else []
    words += [f"for {cell['ttl']}"] if cell["ttl"] is not None else []
    return " ".join(word for word in words if word)


def _timers(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    before, after = ({t["id"]: f"{t['time']} time" for t in side} for side in (old, new))
    yield from _named("timer", before, after)
    yield from _order("order of timers", list(before), list(after))


def _sides(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    for name, before, after in zip(("left", "right"), old, new, strict=False):
        parts = frozenset({"keys", "columns"})
        for edit in _values(before, after, parts, {"input"}):
            yield Edit(f"{name} {edit.part}", edit.old, edit.new)
        yield from _columns(f"{name} key", before["keys"], after["keys"])
        yield from _columns(f"{name} column", before["columns"], after["columns"])


# Settings, sources, sinks and queries.


def _setting_edits(old: Json, new: Json) -> Iterator[Edit]:
    for key in ("pipeline", "version"):
        yield from _values({key: old.get(key)}, {key: new.get(key)}, frozenset(), set())
    before, after = (plan.get("settings", {}) for plan in (old, new))
    yield from _values(before, after, frozenset({"variables", "spark", "profiles"}), set())
    for part in ("variables", "spark", "profiles"):
        word = part.removesuffix("s")
        yield from _named(word, _spelled(before.get(part, {})), _spelled(after.get(part, {})))
    yield from _named("checkpoint", old.get("checkpoint", {}), new.get("checkpoint", {}))


def _spelled(values: Json) -> Json:
    """Return variables with a word for the missing default, so that it is not taken for absent."""
    return {key: "(to be given)" if value is None else value for key, value in values.items()}


def _source_edits(old: Json, new: Json) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"options", "columns", "computed"}), set())
    yield from _named("option", old.get("options", {}), new.get("options", {}))
    yield from _columns("column", old.get("columns", ()), new.get("columns", ()))
    yield from _columns("computed column", old.get("computed", ()), new.get("computed", ()))


def _sink_edits(old: Json, new: Json) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"options"}), set())
    yield from _named("option", old.get("options", {}), new.get("options", {}))


def _query_edits(old: Json, new: Json) -> Iterator[Edit]:
    yield from _values(old, new, frozenset({"operators", "sinks", "sources", "tables"}), set())
    for part in ("sink", "source", "table"):
        before, after = old.get(f"{part}s", ()), new.get(f"{part}s", ())
        yield from _named(part, dict.fromkeys(before, ""), dict.fromkeys(after, ""))
    before = {use["id"]: use for use in old.get("operators", ())}
    after = {use["id"]: use for use in new.get("operators", ())}
    yield from _named("operator", dict.fromkeys(before, ""), dict.fromkeys(after, ""))
    yield from _order("order of operators", list(before), list(after))
    for id_ in after:
        if id_ in before:
            yield from _uses(id_, before[id_], after[id_])


def _uses(id_: str, old: Json, new: Json) -> Iterator[Edit]:
    """Tell which aggregates or columns of an operator a query keeps in its state."""
    before, after = (list(use.get("aggregates", ())) for use in (old, new))
    yield from _named(f"{id_} keeps", dict.fromkeys(before, ""), dict.fromkeys(after, ""))
    sides, later = (_kept_columns(use) for use in (old, new))
    for name, columns in later.items():
        if name in sides:
            kept = (dict.fromkeys(map(_name, side), "") for side in (sides[name], columns))
            yield from _named(f"{id_} keeps {name}", *kept)


def _kept_columns(use: Json) -> Json:
    """Return the columns that an operator keeps of each input: of a join, of rows that wait."""
    sides = dict(zip(("left", "right"), use.get("columns", ()), strict=False))
    return {**sides, **use.get("waiting", {})}


def _name(column: Any) -> str:
    return str(column["name"] if isinstance(column, Mapping) else column)


# What they have in common.


def _values(old: Json, new: Json, parts: frozenset[str], ignored: set[str]) -> Iterator[Edit]:
    """Tell of keys whose value differs, apart from those that are compared in parts."""
    for key in dict.fromkeys((*new, *old)):
        if key in parts or key in ignored or old.get(key) == new.get(key):
            continue
        yield Edit(key.replace("_", " "), _text(old.get(key)), _text(new.get(key)))


def _columns(part: str, old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    before, after = ({column["name"]: _column(column) for column in side} for side in (old, new))
    yield from _named(part, before, after)
    yield from _order(f"order of {part}s", list(before), list(after))


def _column(column: Json) -> str:
    parts = [str(column.get("type") or "unknown type")]
    if column.get("nullable") is False:
        parts.append("NOT NULL")
    if column.get("expression"):
        parts.append(f"AS {column['expression']}")
    return " ".join(parts)


def _named(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Edit]:
    """Tell of names that came, went, or mean something else."""
    for name in dict.fromkeys((*new, *old)):
        before, after = (_text(side[name]) if name in side else None for side in (old, new))
        if before != after:
            yield Edit(f"{part} {name}", before, after)


def _order(part: str, old: list[str], new: list[str]) -> Iterator[Edit]:
    """Tell when what is in both lists stands in another order."""
    before, after = ([name for name in side if name in old and name in new] for side in (old, new))
    if before != after:
        yield Edit(part, ", ".join(before), ", ".join(after))


def _text(value: Any) -> str | None:
    """Return a value of a plan as a person would say it."""
    if value is None:
        return None
    if isinstance(value, Mapping) and {"kind", "column", "size"} <= value.keys():
        return _window(value)
    if isinstance(value, Mapping) and {"lower_micros", "upper_micros"} <= value.keys():
        return f"{_length(value['lower_micros'])} to {_length(value['upper_micros'])}"
    if isinstance(value, Mapping) and {"column", "delay"} <= value.keys():
        return f"{value['column']} - {value['delay']}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(_text(item)) for item in value)
    return str(value)


def _window(window: Json) -> str:
    lengths = [
        f"{name} {window[name]}"
        for name in ("size", "slide", "step", "gap", "offset")
        if window.get(name) is not None
    ]
    return f"{window['kind']} on {window['column']}, {', '.join(lengths)}"


_UNITS = (("hours", 3_600_000_000), ("minutes", 60_000_000), ("seconds", 1_000_000))


def _length(micros: int | None) -> str:
    """Return a length of time in the largest unit that divides it."""
    if micros is None:
        return "unbounded"
    for unit, size in _UNITS:
        if micros % size == 0:
            number = micros // size
            return f"{number} {unit if abs(number) != 1 else unit.removesuffix('s')}"
    return f"{micros} microseconds"
