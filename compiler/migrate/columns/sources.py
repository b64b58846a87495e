"""Renamed columns of sources: everything above is then expressed with the new name.

The file says which column is which (`rename`), once for all readers. Where it does not, a missing
column and a new one of its type may be the same, which is a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ....contracts.plan import (
    Aggregation,
    Branch,
    Deduplication,
    Join,
    Operator,
    Plan,
    Program,
    Side,
    Source,
    TopN,
    aggregates_of,
    branches_of,
    keys_of,
    sides_of,
    window_of,
)
from ....contracts.records import dataclass
from ....dsl.ast.expressions import ColumnRef
from ....dsl.ast.node import Name, Node
from ....dsl.format import identifier
from ...model import types as t
from ..compared.versions import SIDES, Versions, bare_key
from ..findings.decisions import Decisions
from ..findings.verdicts import Decision, Finding, Verdict
from ..texts.lines import renamed
from ..texts.parsing import reworded
from ..texts.rewritten import types_in, with_branches, with_texts, with_types
from ..types.conversions import RenamedType, type_of

Names = Mapping[str, str]
"""New names of columns by their old ones."""

NEW = "new"
"""The decision for a column that is not an old one: `accept: {column: new}`."""


@dataclass(frozen=True, slots=True)
class Called:
    """A renamed column; ``choices`` are what it may be if undecided."""

    old: str
    new: str
    choices: tuple[str, ...] = ()

    def finding(self, source: str) -> Finding:
        """Return its finding."""
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
    """Return the renamed columns of a source, as decided or as likely.

    Likely ones only if some state was computed from them: for others nothing is lost.
    """
    decisions = versions.decisions
    said = decisions.below("sources", name, "rename")
    found = [Called(column, said[column]) for column in said]
    for column in said:
        decisions.get("sources", name, "rename", column)
    types = _types(versions.old.sources[was])
    came = _types(versions.new.sources[name])
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
    """Whether the file renames what is computed from a column to that of another one."""
    return any(
        path[0] == "operators" and path[2:3] == ("rename",) and _said(path[3], {old: new}) == now
        for path, now in decisions.values.items()
        if len(path) == 4 and path[3] != now
    )


def _types(source: Source) -> dict[str, str | None]:
    """Return the columns that a source reads, with their types."""
    return {one.name: one.type for one in source.columns}


def _is_read(plan: Plan, source: str, column: str) -> bool:
    renamed = with_names(plan, source, {column: f"{column} by another name"}, plan)
    return renamed.operators != plan.operators


def with_names(plan: Plan, source: str, names: Names, new: Plan) -> Plan:
    """Return a plan with renamed columns of a source, and everything computed from them.

    An operator that emits rows unchanged, or groups by a column, passes on the name; a join uses
    the names of its sides. ``new`` says whether the old name still exists there.
    """
    operators = dict(plan.operators)
    below = [(source, names)]
    while below:
        name, own = below.pop(0)
        for id_ in operators:
            if all(branch.below != name for branch in branches_of(operators[id_])):
                continue
            operator = operators[id_] = _with_renamed_input(operators[id_], name, own)
            after = new.operators.get(id_)
            if isinstance(operator, Join):
                _join(operators, operator, name, own, after)
            elif passed := _passed_on(operator, after, own):
                below.append((id_, passed))
    known = {type_ for one in new.operators.values() for type_ in types_in(one)}
    for id_, operator in operators.items():
        operators[id_] = _in_own_words(operator, names, known)
    sources = {**plan.sources, source: _source(plan.sources[source], names)}
    return replace(plan, sources=sources, operators=operators)


def _source(source: Source, names: Names) -> Source:
    mark = source.watermark
    return replace(
        source,
        columns=tuple(replace(c, name=names.get(c.name, c.name)) for c in source.columns),
        computed=tuple(replace(c, expression=_said(c.expression, names)) for c in source.computed),
        watermark=mark and replace(mark, column=names.get(mark.column, mark.column)),
    )


def _passed_on(operator: Operator, after: Operator | None, names: Names) -> Names:
    """Return the output columns of an operator by their names below it."""
    if isinstance(operator, Deduplication | TopN):
        return names
    if not isinstance(operator, Aggregation):
        return {}
    was = {key.name for key in operator.keys}
    now = set() if after is None else {key.name for key in keys_of(after)}
    return {old: new for old, new in names.items() if old in was - now and new in now}


def _in_own_words(operator: Operator, names: Names, known: set[str]) -> Operator:
    """Return an operator with the new names in fields of structs and in statements of a query.

    Fields computed from columns are renamed where the new version has such a type.
    """
    operator = with_types(operator, lambda text: _type(text, names, known))
    if isinstance(operator, Program) and not operator.declared and operator.statements is not None:
        # Fields of rows that are kept are called as the columns that they are made of.
        lines = tuple(renamed(line, names, fields=True) for line in operator.statements)
        operator = replace(operator, statements=lines)
    return operator


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


def _with_renamed_input(operator: Operator, below: str, names: Names) -> Operator:
    """Return an operator with the new names of a source or operator below.

    A branch omits what has the same name in the source.
    """
    unsaid = _unsaid(operator, names)

    def change(branch: Branch) -> Branch:
        if branch.below != below:
            return branch
        said = with_texts(branch, lambda text: _said(text, names))
        return replace(
            said,
            time=_with_unsaid(said.time, unsaid.time, names),
            keys=_with_unsaid(said.keys, unsaid.keys, names),
            aggregates=_with_unsaid(said.aggregates, unsaid.aggregates, names),
            columns=_with_unsaid(said.columns or {}, unsaid.columns, names) or said.columns,
        )

    return with_branches(operator, change)


def _with_unsaid(said: Names, unsaid: Sequence[str], names: Names) -> Names:
    texts = {n: identifier(names[n]) if n in names else _said(n, names) for n in unsaid}
    return {**{name: text for name, text in texts.items() if text != name}, **said}


@dataclass(frozen=True, slots=True)
class _Unsaid:
    """What a branch may contain, and omits where its name is the same."""

    time: Sequence[str]
    keys: Sequence[str]
    aggregates: Sequence[str]
    columns: Sequence[str]


def _unsaid(operator: Operator, names: Names) -> _Unsaid:
    sides = sides_of(operator)
    windows = (window_of(operator), *(side.window for side in sides))
    keys = (*keys_of(operator), *(key for side in sides for key in side.keys))
    return _Unsaid(
        time=[w.column for w in windows if w is not None and w.column in names],
        keys=[key.name for key in keys if key.name in names],
        aggregates=[one.id for one in aggregates_of(operator)],
        columns=[*names] if isinstance(operator, Join | TopN) else [],
    )


def _join(
    operators: dict[str, Operator], join: Join, below: str, names: Names, after: Operator | None
) -> None:
    """Rename a side's columns in a join and in everything above it."""
    for place, word in enumerate(SIDES):
        side = join.sides[place]
        if all(branch.below != below for branch in side.input):
            continue
        kept = {c.name for c in after.sides[place].columns} if isinstance(after, Join) else set()
        own = {
            old: now
            for old, now in names.items()
            if old not in kept and any(c.name == old for c in side.columns)
        }
        sides = list(join.sides)
        sides[place] = _with_renamed_keys(side, word, below, names)
        also = None if join.also is None else tuple(sorted(_said(t, own, word) for t in join.also))
        operators[join.id] = join = replace(join, sides=tuple(sides), also=also)
        for id_, other in operators.items():
            operators[id_] = with_branches(other, partial(_above, join.id, own, word))
        found = operators[join.id]
        assert isinstance(found, Join)
        join = found


def _with_renamed_keys(side: Side, word: str, below: str, names: Names) -> Side:
    renamed = {}
    for key in side.keys:
        bare = bare_key(side, key)
        text = _said(_said(bare, names), names, word)
        if text != bare:
            renamed[bare] = text
    branches = (
        replace(one, keys={**renamed, **one.keys}) if one.below == below else one
        for one in side.input
    )
    return replace(side, input=tuple(branches))


def _above(join: str, names: Names, side: str, branch: Branch) -> Branch:
    if branch.below != join:
        return branch
    return with_texts(branch, lambda text: _said(text, names, side))


def _said(text: str, names: Names, side: str | None = None) -> str:
    """Return an expression with new names of columns; for a side, those qualified by it."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef):
            return None
        return ColumnRef(node.span, _parts(node.parts, names, side))

    return reworded(text, change)


def _parts(parts: Sequence[Name], names: Names, side: str | None) -> tuple[Name, ...]:
    at = 0 if side is None else 1
    if len(parts) <= at or (side is not None and parts[0].text != side):
        return tuple(parts)
    changed = Name(parts[at].span, names.get(parts[at].text, parts[at].text))
    return (*parts[:at], changed, *parts[at + 1 :])
