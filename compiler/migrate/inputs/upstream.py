"""Whether what is below an operator gives the same rows as before.

By default it does not: the entries of both plans are compared whole, except for what is proved not
to change any output row. So anything unknown to this module is reported, not missed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ....contracts.json_records import Record
from ....contracts.plan import (
    Branch,
    Column,
    Deduplication,
    Join,
    Operator,
    Program,
    Settings,
    Source,
    TopN,
    Window,
    branches_of,
    window_of,
)
from ....contracts.records import dataclass
from ...operators.lookup import table_of
from ..compared.versions import Versions, column_meaning, key_meaning, origin
from ..texts.computed import calls
from .reading import changed_source, changed_table

Branches: TypeAlias = Sequence[tuple[str, tuple[str, ...]]]
"""Where rows come from, with the conditions that they passed."""

NO_ROWS = {
    # The meaning of an aggregate's column is in its readers, and so is that of a side's.
    "aggregate": frozenset({"stream", "aggregates", "columns", "input", "keys", "window"}),
    "topn": frozenset({"stream", "aggregates", "given", "input", "rows", "keys", "order"}),
    "dedup": frozenset({"stream", "input", "keys"}),
    "join": frozenset({"stream", "sides", "condition"}),
    "operator": frozenset({"stream", "inputs"}),
}
"""Fields of an entry that do not affect output rows, or are compared separately."""

_OF_THE_SOURCE = frozenset(
    {"connector", "options", "columns", "metadata", "computed", "watermark", "malformed_rows"}
)
"""What of a source is compared part by part, with its position, stands in what reads a column, or
leaves out what is no row.
"""

_WORDS = {
    "also": "conditions",
    "future_rows": "policy for future rows",
    "join": "kind of join",
    "within": "time kept",
}
"""The names of parts of an entry, where the field's name is not clear."""

_CONDITIONS = "other conditions"
_KEYS = "other keys"
_SHOWN = 60
"""The length of a line that is shown whole; for a longer one only its part is named."""

_RUNS_OTHERWISE = re.compile(
    r"spark\.(?!sql\.)"
    r"|spark\.sql\.(shuffle|streaming|adaptive|files|codegen|ui|autoBroadcastJoinThreshold)\b"
)
"""Settings that do not affect rows."""


def changes_below(versions: Versions, branches: Sequence[Branch]) -> Iterator[str]:
    """Yield everything below an operator's input that changes rows after the cut.

    The branches themselves are not included: an operator compares its own input, condition by
    condition.
    """
    for name in sorted({branch.below for branch in branches}):
        told = list(dict.fromkeys(_of_one(versions, name, frozenset())))
        if told:
            yield f"the rows of `{name}` are others from the cut on: {', '.join(told)}"
    yield from _looked_up(versions, branches)
    yield from _settings(versions)


def _of_one(versions: Versions, name: str, seen: frozenset[str]) -> Iterator[str]:
    """Yield how the rows of a source or operator differ, and those of everything below it."""
    before = versions.before(name)
    if name in versions.new.sources:
        if before in versions.old.sources:
            yield from _of_source(
                *(versions, name, versions.old.sources[before], versions.new.sources[name])
            )
        return
    old = versions.old.operators.get(before)
    new = versions.new.operators.get(name)
    if old is None or new is None or name in seen:
        return
    if versions.begins(name) or old.KIND != new.KIND:
        yield f"`{name}` begins at the cut"
        return
    told = dict.fromkeys(_of_operator(versions, old, new))
    yield from (f"{one} of `{name}`" for one in told)
    yield from _looked_up(versions, branches_of(new))
    for below in sorted({branch.below for branch in branches_of(new)}):
        yield from _of_one(versions, below, seen | {name})


def _of_operator(versions: Versions, old: Operator, new: Operator) -> Iterator[str]:
    yield from (
        _changed(part, was, now) for part, was, now in _differing(old, new, NO_ROWS[new.KIND])
    )
    shapes = zip(_shape(old, versions.renamed), _shape(new, {}), strict=True)
    for (part, before), (_, after) in shapes:
        if before == after or (part == _KEYS and _only_more(new, before, after)):
            continue
        yield part if part != _CONDITIONS else _asked(before, after)
    for name in versions.changed_functions():
        if calls(new, name):
            yield f"function `{name}`"


def _differing(old: Record, new: Record, apart: frozenset[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the parts that differ with both of their values, except those compared separately."""
    before, after = old.parts(), new.parts()
    for part in dict.fromkeys([*before, *after]):
        was, now = before.get(part), after.get(part)
        if part not in apart and was != now:
            yield part, was, now


def _changed(part: str, old: object, new: object) -> str:
    """Return the change of a part of an entry in a few words."""
    named = _WORDS.get(part, part)
    if isinstance(old, tuple) and isinstance(new, tuple):
        came, gone = _words(new, old), _words(old, new)
        told = [f"{word} is another" if word in gone else f"{word} is new" for word in came]
        told += [f"{word} is gone" for word in gone if word not in came]
        shown = [word for word in told if len(word) <= _SHOWN]
        return f"{', '.join(shown[:2])} in the {named}" if shown else f"the {named}"
    if isinstance(old, str | int | None) and isinstance(new, str | int | None):
        return f"the {named}, {_text(new)} for {_text(old)},"
    return f"the {named}"


def _words(these: Sequence[Any], others: Sequence[Any]) -> list[str]:
    """Return the items that others lack: lines, or names."""
    lines = [
        one if isinstance(one, str) else str(getattr(one, "id", None) or one.name)
        for one in these
        if one not in others
    ]
    return [f"`{' '.join(line.split())}`" for line in lines]


def _asked(old: Sequence[Branches], new: Sequence[Branches]) -> str:
    """Return the conditions that were added or removed; else that rows are selected differently."""
    before, after = (
        {text for branches in side for _, where in branches for text in where}
        for side in (old, new)
    )
    came = [f"`{text}` is new" for text in sorted(after - before)]
    gone = [f"`{text}` is gone" for text in sorted(before - after)]
    return f"{', '.join([*came, *gone])} in WHERE" if came or gone else "another input"


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that reach an operator together: its only input, a side, one of several inputs."""

    branches: Sequence[Branch]
    keys: Sequence[Column]
    relation: str | None = None
    window: Window | None = None
    time: str | None = None


def _groups(operator: Operator) -> list[_Group]:
    match operator:
        case Join(sides=sides):
            return [_Group(s.input, s.keys, s.relation, s.window, s.event_time) for s in sides]
        case Program(inputs=inputs, keys=keys):
            return [_Group(one.input, keys, one.relation, None, one.event_time) for one in inputs]
        case _:
            return [_Group(operator.input, operator.keys, window=window_of(operator))]


def _shape(operator: Operator, renamed: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield what determines the output rows of an operator, in terms of what is below it."""
    groups = _groups(operator)
    inputs = [group.branches for group in groups]
    yield "another input", [sorted({origin(b, renamed) for b in branches}) for branches in inputs]
    yield (
        _CONDITIONS,
        [sorted((origin(b, renamed), b.where) for b in branches) for branches in inputs],
    )
    yield _KEYS, [sorted(_key(group, key) for key in group.keys) for group in groups]
    yield "another time", [_time(group) for group in groups]
    match operator:
        case Program():
            yield "other columns", [_columns(branches, renamed) for branches in inputs]
        case TopN(input=branches, order=order):
            yield "another order", [_ordered(branches, one) for one in order]


def _only_more(
    operator: Operator, before: Sequence[Sequence[Any]], after: Sequence[Sequence[Any]]
) -> bool:
    """Whether ids have more keys: the file says which the old ones had."""
    return isinstance(operator, Deduplication) and all(
        key in now for was, now in zip(before, after, strict=True) for key in was
    )


def _key(group: _Group, key: Column) -> tuple[tuple[str, ...], str]:
    name = key.name
    for word in (group.relation, "left", "right"):
        name = name if word is None else name.removeprefix(f"{word}.")
    found = column_meaning if key.type is None else key_meaning
    return found(group.branches, name), str(key.type)


def _time(group: _Group) -> Any:
    """Return the window of an aggregate or side, and the instant that assigns rows to it."""
    window, time = group.window, group.time
    if window is None:
        return None if time is None else column_meaning(group.branches, time)
    over = {text for b in group.branches for text in b.time.values() or (window.column,)}
    return replace(window, column=""), sorted(over), time


def _columns(branches: Sequence[Branch], renamed: Mapping[str, str]) -> list[Any]:
    return sorted([origin(b, renamed), sorted((b.columns or {}).items())] for b in branches)


def _ordered(branches: Sequence[Branch], order: str) -> tuple[tuple[str, ...], str]:
    column, _, direction = order.rpartition(" ")
    return column_meaning(branches, column), direction


def _of_source(versions: Versions, name: str, old: Source, new: Source) -> Iterator[str]:
    for part, _, _ in _differing(old, new, _OF_THE_SOURCE):
        yield f"the {_WORDS.get(part, part)} of `{name}`"
    yield from changed_source(versions, name, old, new)


def _looked_up(versions: Versions, branches: Iterable[Branch]) -> Iterator[str]:
    """Yield how the tables differ in which the rows of an input are looked up."""
    used = {table_of(text) for branch in branches for text in branch.where}
    for name, new in versions.new.tables.items():
        if name in used and name in versions.old.tables:
            yield from changed_table(versions, name, versions.old.tables[name], new)


def _settings(versions: Versions) -> Iterator[str]:
    before, after = versions.old.settings, versions.new.settings
    profiles = {*before.profiles, *after.profiles}
    told: dict[str, str] = {}
    for profile in (None, *sorted(profiles)):
        was, now = (_spark(settings, profile) for settings in (before, after))
        where = "" if profile is None else f" in profile `{profile}`"
        for name in sorted(was.keys() | now.keys()):
            if was.get(name) != now.get(name) and not _RUNS_OTHERWISE.match(name):
                line = f"`{name}` is {_text(now.get(name))}, and was {_text(was.get(name))}"
                told.setdefault(line, f"{line}{where}")
    yield from told.values()


def _spark(settings: Settings, profile: str | None) -> dict[str, str]:
    """Return the settings of Spark with a profile; without it where a version has none of it."""
    own = None if profile is None else settings.profiles.get(profile)
    return {**settings.spark, **(own.spark if own is not None else {})}


def _text(value: object) -> str:
    if value is None:
        return "as Spark has it"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
