"""Columns of sources that have another name: everything above is then said in the new one.

The file says which column is which (`rename`), once for all that reads it. Where it does not say, a
column that is gone and one of its type that is new may be one, and that is asked about.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...dsl.ast.expressions import ColumnRef
from ...dsl.ast.node import Name, Node
from ...dsl.format import sql
from ...dsl.parse import parse_expression
from ...dsl.records import dataclass
from ...dsl.source import SourceFile
from ...dsl.walk import rewrite
from ..model.same import canonical
from .decisions import Decisions
from .verdicts import Decision, Finding, Json, Verdict
from .versions import SIDES, Versions, bare_key, inputs_of

Names = Mapping[str, str]
"""New names of columns by their old ones."""

NEW = "new"
"""What the file says of a column that is none of the old ones: `accept: {column: new}`."""


@dataclass(frozen=True, slots=True)
class Called:
    """A column that has another name; ``choices`` are what it may be, where nobody has said it."""

    old: str
    new: str
    choices: tuple[str, ...] = ()

    def finding(self, source: str) -> Finding:
        """Return what becomes of it."""
        if not self.choices:
            return Finding(
                "column", self.old, self.new, Verdict.KEPT, f"it was called `{self.old}`"
            )
        return Finding(
            *("column", self.old, self.new, Verdict.KEPT),
            f"it is new, unless it is what was `{self.old}`, which is gone",
            f"`rename: {{{self.old}: {self.new}}}` goes on with what was computed from that, "
            f"`accept: {{{self.new}: {NEW}}}` says that it is another",
            open=Decision(("sources", source, "rename", self.old), self.new, self.choices),
        )


def called_otherwise(versions: Versions, name: str, was: str) -> tuple[Called, ...]:
    """Return the columns of a source that have another name, as decided or as is likely.

    Of the latter only such as some state was computed from: of others nothing is lost.
    """
    decisions = versions.decisions
    said = decisions.below("sources", name, "rename")
    found = [Called(column, said[column]) for column in said]
    for column in said:
        decisions.get("sources", name, "rename", column)
    types = _types(versions.old["sources"][was])
    came = _types(versions.new["sources"][name])
    taken = {*said.values(), *types, *_none_of_the_old(decisions, name)}
    for column, type_ in types.items():
        choices = tuple(n for n, t in came.items() if t == type_ and n not in taken)
        gone = column not in came and column not in said
        if gone and choices and _is_read(versions.old, was, column):
            taken.add(choices[0])
            found.append(Called(column, choices[0], choices))
    return tuple(found)


def _none_of_the_old(decisions: Decisions, name: str) -> list[str]:
    words = decisions.below("sources", name, "accept")
    return [one for one in words if decisions.get("sources", name, "accept", one) == NEW]


def _types(source: Json) -> dict[str, str]:
    """Return the columns that a source reads, with their types."""
    return {one["name"]: one["type"] for one in source["columns"]}


def _is_read(plan: Json, source: str, column: str) -> bool:
    renamed = with_names(plan, source, {column: f"{column} by another name"}, plan)
    return bool(renamed["operators"] != plan["operators"])


def with_names(plan: Json, source: str, names: Names, new: Json) -> Json:
    """Return a plan in which columns of a source have other names, and all that is made of them.

    A join is above its sides, whose columns it calls as they do: ``new`` says whether a side still
    has a column by the old name.
    """
    found: Any = copy.deepcopy(plan)
    entry = found["sources"][source]
    for column in entry["columns"]:
        column["name"] = names.get(column["name"], column["name"])
    for one in entry["computed"]:
        one["expression"] = _said(one["expression"], names)
    if entry["watermark"] is not None:
        column = entry["watermark"]["column"]
        entry["watermark"]["column"] = names.get(column, column)
    rows_of = _with_its_columns(plan, source)
    for id_, operator in found["operators"].items():
        for branch in inputs_of(operator):
            if branch["from"] in rows_of:
                _branch(operator, branch, names)
        if operator["kind"] == "join":
            _join(found, id_, rows_of, names, new)
    return found  # type: ignore[no-any-return]


def _with_its_columns(plan: Json, source: str) -> set[str]:
    """Return the source and what gives its rows as they are: what leaves out those seen before."""
    found: set[str] = set()
    more = {source}
    while more:
        found |= more
        more = {
            id_
            for id_, operator in plan["operators"].items()
            if operator["kind"] == "dedup"
            and any(branch["from"] in found for branch in operator["input"])
        } - found
    return found


def _branch(operator: Json, branch: Any, names: Names) -> None:
    """Say what a branch gives in the new names; what it does not say is called as in the source."""
    branch["where"] = sorted(_said(text, names) for text in branch["where"])
    for part, named in branch.items():
        if isinstance(named, dict):
            branch[part] = {name: _said(text, names) for name, text in named.items()}
    for part, name in _unsaid(operator, names):
        text = _said(name, names)
        if text != name:
            branch.setdefault(part, {}).setdefault(name, text)


def _unsaid(operator: Json, names: Names) -> Iterator[tuple[str, str]]:
    """Yield what may stand in a branch, and does not where it is called as what it is."""
    for one in operator.get("aggregates", ()):
        yield "aggregates", one["id"]
    for group in (operator, *operator.get("sides", ()), *operator.get("inputs", ())):
        for key in group.get("keys", ()):
            if key["name"] in names:
                yield "keys", key["name"]
        window = group.get("window")
        if window is not None and window["column"] in names:
            yield "time", window["column"]
    if operator["kind"] in ("join", "topn"):
        yield from (("columns", name) for name in names)


def _join(plan: Any, id_: str, rows_of: set[str], names: Names, new: Json) -> None:
    """Say what a join, and what is above it, has of a side with the source's columns."""
    operator = plan["operators"][id_]
    after = new["operators"].get(id_, {})
    for place, word in enumerate(SIDES):
        side = operator["sides"][place]
        if all(branch["from"] not in rows_of for branch in side["input"]):
            continue
        kept = {c["name"] for c in after["sides"][place]["columns"]} if "sides" in after else set()
        own = {
            old: now
            for old, now in names.items()
            if old not in kept and any(c["name"] == old for c in side["columns"])
        }
        operator["also"] = sorted(_said(text, own, word) for text in operator["also"])
        for key in side["keys"]:
            bare = bare_key(side, key)
            text = _said(_said(bare, names), names, word)
            for branch in side["input"]:
                if text != bare and branch["from"] in rows_of:
                    branch.setdefault("keys", {}).setdefault(bare, text)
        for other in plan["operators"].values():
            for branch in inputs_of(other):
                if branch["from"] == id_:
                    _above(branch, own, word)


def _above(branch: Any, names: Names, side: str) -> None:
    branch["where"] = sorted(_said(text, names, side) for text in branch["where"])
    for part, named in branch.items():
        if isinstance(named, dict):
            branch[part] = {name: _said(text, names, side) for name, text in named.items()}


def _said(text: str, names: Names, side: str | None = None) -> str:
    """Return an expression with columns in their new names; of a side, those behind its word."""
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    if tree is None or len(diagnostics):
        return text

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        return ColumnRef(node.span, _parts(node.parts, names, side))

    renamed = rewrite(tree, change)
    return text if renamed == tree else sql(canonical(renamed))


def _parts(parts: Sequence[Name], names: Names, side: str | None) -> tuple[Name, ...]:
    at = 0 if side is None else 1
    if len(parts) <= at or (side is not None and parts[0].text != side):
        return tuple(parts)
    changed = Name(parts[at].span, names.get(parts[at].text, parts[at].text))
    return (*parts[:at], changed, *parts[at + 1 :])
