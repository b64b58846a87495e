"""Two plans side by side: what is alive in each, and what it means in terms of what is below."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from ...dsl.records import dataclass
from .decisions import Decisions
from .verdicts import Json

SIDES = ("left", "right")

Meaning = tuple[str, ...]
"""What a key, an aggregate or a column is, once for each branch of its input."""


_TAKEN = ("key", "value", "position", "written", "at", "number")
"""What entries and rows that wait have beside their keys."""


@dataclass(slots=True)
class Versions:
    """Both plans, what the file decides, and what is known of the operators that came before.

    ``renamed`` has the new name of each old operator and source that goes on; ``turned`` are old
    joins whose sides are the other way round in ``old``, as they are in the new version.
    """

    old: Json
    new: Json
    decisions: Decisions
    renamed: dict[str, str] = field(default_factory=dict)
    turned: set[str] = field(default_factory=set)

    def before(self, name: str) -> str:
        """Return what a source or operator of the new version was called, as far as it is known."""
        return next((was for was, now in self.renamed.items() if now == name), name)

    def begins(self, name: str) -> bool:
        """Whether the file says of an operator that was there that it begins anew, with nothing."""
        return self.decisions.values.get(("operators", name)) in ("drop", "empty")

    def starts(self, name: str) -> bool:
        """Whether the file says of a source that was there that it is read from its beginning."""
        started = ("sources", name, "start") in self.decisions.values
        return started and name in self.old["sources"]

    def changed_functions(self) -> tuple[str, ...]:
        """Return the functions that have the same name in both and do not do the same."""
        before, after = (plan.get("functions", {}) for plan in (self.old, self.new))
        return tuple(name for name in after if name in before and before[name] != after[name])


def alive(plan: Json) -> dict[str, Json]:
    """Return the operators that some query has."""
    ids = {use["id"] for query in plan["queries"].values() for use in query["operators"]}
    return {id_: entry for id_, entry in plan["operators"].items() if id_ in ids}


def _uses(plan: Json, id_: str) -> list[Json]:
    return [
        use for query in plan["queries"].values() for use in query["operators"] if use["id"] == id_
    ]


def key_column(entry: Json, name: str) -> str:
    """Return what the column of a key is called in a savepoint, whose tables have others too."""
    if entry["kind"] == "operator":
        return f"key.{name}" if name.lower() in _TAKEN else name
    grouped = entry["kind"] not in ("join", "dedup")
    taken = grouped and entry.get("window") is not None and name.lower() == "window"
    return f"key.{name}" if taken else name


def aggregates_of(plan: Json, id_: str) -> list[Json]:
    """Return the aggregates of an operator that some query keeps."""
    kept = {name for use in _uses(plan, id_) for name in use.get("aggregates", ())}
    return [one for one in plan["operators"][id_].get("aggregates", ()) if one["id"] in kept]


def side_columns(plan: Json, id_: str, place: int) -> list[Json]:
    """Return the columns of a side of a join that some query keeps."""
    kept = {c["name"] for use in _uses(plan, id_) for c in use["columns"][place]}
    side = plan["operators"][id_]["sides"][place]
    return [column for column in side["columns"] if column["name"] in kept]


def bare_key(side: Json, key: Json) -> str:
    """Return the name of a key of a side, without that of its relation."""
    bare = str(key["name"]).replace(f"{side['relation']}.", "")
    for word in SIDES:
        bare = bare.removeprefix(f"{word}.")
    return bare


def waiting_columns(plan: Json, id_: str, alias: str) -> list[Json] | None:
    """Return the columns with which rows of an input wait; None where none do."""
    found: dict[str, Json] = {}
    for use in _uses(plan, id_):
        for column in use.get("waiting", {}).get(alias, ()):
            found.setdefault(column["name"], column)
    return list(found.values()) or None


def meaning(inputs: Sequence[Json], part: str, name: str) -> Meaning:
    """Return what something called ``name`` is in terms of what is below."""
    return tuple(sorted({branch.get(part, {}).get(name, name) for branch in inputs}))


def never_null(plan: Json, inputs: Sequence[Json], columns: Iterable[str]) -> bool:
    """Whether columns of inputs are never NULL: those of sources that declare them so."""
    return bool(inputs) and all(
        any(
            column["name"] == name and column["nullable"] is False
            for column in plan["sources"].get(branch["from"], {}).get("columns", ())
        )
        for branch in inputs
        for name in columns
    )


def below(inputs: Iterable[Json], renamed: Mapping[str, str]) -> set[tuple[str, tuple[str, ...]]]:
    """Return where rows come from, and the conditions that they passed."""
    return {(origin(branch, renamed), tuple(branch["where"])) for branch in inputs}


def origin(branch: Json, renamed: Mapping[str, str]) -> str:
    """Return what the rows of a branch are of, by its new name."""
    return str(renamed.get(branch["from"], branch["from"]))


def inputs_of(entry: Json) -> list[Json]:
    """Return the branches of all inputs of an operator."""
    groups = [entry, *entry.get("sides", ()), *entry.get("inputs", ())]
    return [branch for group in groups for branch in group.get("input", ())]


def calls(entry: Json, function: str) -> bool:
    """Whether anything that an operator computes calls a function."""
    return (
        re.search(rf"\b{re.escape(function)}\(", json.dumps(entry, ensure_ascii=False)) is not None
    )
