"""Columns of sources that have another name: everything above is then said in the new one.

The file says which column is which (`rename`), once for all that reads it. Where it does not say, a
column that is gone and one of its type that is new may be one, and that is asked about.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...dsl.ast.expressions import ColumnRef
from ...dsl.ast.node import Name, Node
from ...dsl.format import sql
from ...dsl.parse import parse_expression
from ...dsl.records import dataclass
from ...dsl.source import SourceFile
from ...dsl.walk import rewrite
from ..model import types as t
from ..model.same import canonical
from .conversions import RenamedType, type_of
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
            is_said = _says_so(decisions, column, choices[0])
            found.append(Called(column, choices[0], () if is_said else choices))
    return tuple(found)


def _none_of_the_old(decisions: Decisions, name: str) -> list[str]:
    words = decisions.below("sources", name, "accept")
    return [one for one in words if decisions.get("sources", name, "accept", one) == NEW]


def _says_so(decisions: Decisions, old: str, new: str) -> bool:
    """Whether the file renames what is computed of a column to that of another one."""
    return any(
        path[0] == "operators" and path[2:3] == ("rename",) and _said(path[3], {old: new}) == now
        for path, now in decisions.values.items()
        if len(path) == 4 and path[3] != now
    )


def _types(source: Json) -> dict[str, str]:
    """Return the columns that a source reads, with their types."""
    return {one["name"]: one["type"] for one in source["columns"]}


def _is_read(plan: Json, source: str, column: str) -> bool:
    renamed = with_names(plan, source, {column: f"{column} by another name"}, plan)
    return bool(renamed["operators"] != plan["operators"])


def with_names(plan: Json, source: str, names: Names, new: Json) -> Json:
    """Return a plan in which columns of a source have other names, and all that is made of them.

    What gives rows as they are, or groups by a column, passes the name on; a join calls the columns
    of its sides as they do. ``new`` says whether the old name is still one there.
    """
    found: Any = copy.deepcopy(plan)
    _source(found["sources"][source], names)
    below = [(source, names)]
    while below:
        name, own = below.pop(0)
        for id_, operator in found["operators"].items():
            branches = [branch for branch in inputs_of(operator) if branch["from"] == name]
            for branch in branches:
                _branch(operator, branch, own)
            after = new["operators"].get(id_, {})
            if branches and operator["kind"] == "join":
                _join(found, id_, name, own, after)
            elif branches and (passed := _passed_on(operator, after, own)):
                below.append((id_, passed))
    known = set(_types_in(new["operators"]))
    for operator in found["operators"].values():
        _fields(operator, names, known)
        if operator["kind"] == "operator" and not operator["declared"]:
            operator["statements"] = [_words(line, names) for line in operator["statements"]]
    return found  # type: ignore[no-any-return]


def _source(entry: Any, names: Names) -> None:
    for column in entry["columns"]:
        column["name"] = names.get(column["name"], column["name"])
    for one in entry["computed"]:
        one["expression"] = _said(one["expression"], names)
    if entry["watermark"] is not None:
        column = entry["watermark"]["column"]
        entry["watermark"]["column"] = names.get(column, column)


def _passed_on(operator: Json, after: Json, names: Names) -> Names:
    """Return the columns that an operator gives by the names that they have below it."""
    if operator["kind"] in ("dedup", "topn"):
        return names
    if operator["kind"] != "aggregate":
        return {}
    was, now = ({key["name"] for key in one.get("keys", ())} for one in (operator, after))
    return {old: new for old, new in names.items() if old in was - now and new in now}


def _words(line: str, names: Names) -> str:
    """Return a statement of a query with columns, and fields that are made of them, renamed."""
    words = "|".join(map(re.escape, names))
    return re.sub(rf"(?<!\w)({words})(?!\w)", lambda found: names[found[1]], line)


_OF_A_TYPE = ("type", "entry", "value")


def _types_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, below in value.items():
            if isinstance(below, str) and name in _OF_A_TYPE:
                yield below
            else:
                yield from _types_in(below if name != "given" else [{"type": t} for t in below])
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _types_in(below)


def _fields(value: Any, names: Names, known: set[str]) -> None:
    """Rename the fields of structs that are made of columns, where the new version has such."""
    if isinstance(value, list):
        for below in value:
            _fields(below, names, known)
    if not isinstance(value, dict):
        return
    for name, below in [*value.items()]:
        if isinstance(below, str) and name in _OF_A_TYPE:
            value[name] = _type(below, names, known)
        elif name == "given":
            value[name] = [t if t is None else _type(t, names, known) for t in below]
        else:
            _fields(below, names, known)


def _type(text: str, names: Names, known: set[str]) -> str:
    if "STRUCT<" not in text or text in known:
        return text
    renamed = str(_renamed_type(type_of(text), names))
    return RenamedType(renamed) if renamed in known else text


def _renamed_type(type_: t.Type, names: Names) -> t.Type:
    match type_:
        case t.Array(element):
            return t.Array(_renamed_type(element, names))
        case t.Map(key, value):
            return t.Map(_renamed_type(key, names), _renamed_type(value, names))
        case t.Struct(fields):
            return t.Struct(
                tuple(
                    t.Field(names.get(f.name, f.name), _renamed_type(f.type, names)) for f in fields
                )
            )
    return type_


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


def _join(plan: Any, id_: str, below: str, names: Names, after: Json) -> None:
    """Say what a join, and what is above it, has of a side in the new names."""
    operator = plan["operators"][id_]
    for place, word in enumerate(SIDES):
        side = operator["sides"][place]
        if all(branch["from"] != below for branch in side["input"]):
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
                if text != bare and branch["from"] == below:
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
