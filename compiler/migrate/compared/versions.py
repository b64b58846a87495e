"""Two plans side by side: their live parts, and the meaning of these in terms of what is below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from ....contracts.plan import Aggregate, Branch, Column, Join, Operator, Plan, Side, Use
from ....contracts.plan import aggregates_of as all_aggregates_of
from ....contracts.records import dataclass
from ..findings.decisions import Decisions

SIDES = ("left", "right")

Meaning = tuple[str, ...]
"""The terms of a key, an aggregate or a column, once for each branch of its input."""


@dataclass(slots=True)
class Versions:
    """Both plans, the decisions of the file, and what is known about the previous operators.

    ``renamed`` has the new name of each continuing old operator and source; ``turned`` are old
    joins whose sides are swapped in ``old``, to match the new version.
    """

    old: Plan
    new: Plan
    decisions: Decisions
    renamed: dict[str, str] = field(default_factory=dict)
    turned: set[str] = field(default_factory=set)

    def before(self, name: str) -> str:
        """Return the old name of a source or operator of the new version, as far as known."""
        return next((was for was, now in self.renamed.items() if now == name), name)

    def begins(self, name: str) -> bool:
        """Whether the file restarts an existing operator with empty state."""
        return self.decisions.values.get(("operators", name)) in ("drop", "empty")

    def starts(self, name: str) -> bool:
        """Whether the file restarts an existing source from its beginning."""
        started = ("sources", name, "start") in self.decisions.values
        return started and name in self.old.sources

    def changed_functions(self) -> tuple[str, ...]:
        """Return the functions with the same name in both that do not do the same."""
        before, after = self.old.functions, self.new.functions
        return tuple(name for name in after if name in before and before[name] != after[name])


def alive(plan: Plan) -> dict[str, Operator]:
    """Return the operators that some query contains."""
    ids = {use.id for query in plan.queries.values() for use in query.operators}
    return {id_: entry for id_, entry in plan.operators.items() if id_ in ids}


def _uses(plan: Plan, id_: str) -> list[Use]:
    return [use for query in plan.queries.values() for use in query.operators if use.id == id_]


def aggregates_of(plan: Plan, id_: str) -> list[Aggregate]:
    """Return the aggregates of an operator that some query keeps."""
    kept = {name for use in _uses(plan, id_) for name in use.aggregates or ()}
    return [one for one in all_aggregates_of(plan.operators[id_]) if one.id in kept]


def side_columns(plan: Plan, join: Join, place: int) -> list[Column]:
    """Return the columns of a side of a join that some query keeps."""
    uses = _uses(plan, join.id)
    kept = {c.name for use in uses if use.columns is not None for c in use.columns[place]}
    return [column for column in join.sides[place].columns if column.name in kept]


def bare_key(side: Side, key: Column) -> str:
    """Return the name of a side's key, without its relation."""
    bare = key.name.replace(f"{side.relation}.", "")
    for word in SIDES:
        bare = bare.removeprefix(f"{word}.")
    return bare


def waiting_columns(plan: Plan, id_: str, alias: str) -> list[Column] | None:
    """Return the columns of an input's waiting rows; None where none wait."""
    found: dict[str, Column] = {}
    for use in _uses(plan, id_):
        for column in (use.waiting or {}).get(alias, ()):
            found.setdefault(column.name, column)
    return list(found.values()) or None


def meaning(named: Iterable[Mapping[str, str]], name: str) -> Meaning:
    """Return the meaning of ``name`` in terms of what is below, branch by branch."""
    return tuple(sorted({one.get(name, name) for one in named}))


def key_meaning(branches: Iterable[Branch], name: str) -> Meaning:
    """Return the meaning of a key in terms of what is below."""
    return meaning((branch.keys for branch in branches), name)


def column_meaning(branches: Iterable[Branch], name: str) -> Meaning:
    """Return the meaning of a column in terms of what is below."""
    return meaning((branch.columns or {} for branch in branches), name)


def never_null(plan: Plan, inputs: Sequence[Branch], columns: Iterable[str]) -> bool:
    """Whether columns of inputs are never NULL: those of sources that declare them so."""
    return bool(inputs) and all(
        any(
            column.name == name and not column.nullable
            for source in (plan.sources.get(branch.below),)
            if source is not None
            for column in source.columns
        )
        for branch in inputs
        for name in columns
    )


def below(inputs: Iterable[Branch], renamed: Mapping[str, str]) -> set[tuple[str, Meaning]]:
    """Return where rows come from, and the conditions that they passed."""
    return {(origin(branch, renamed), branch.where) for branch in inputs}


def origin(branch: Branch, renamed: Mapping[str, str]) -> str:
    """Return the origin of a branch's rows, by its new name."""
    return renamed.get(branch.below, branch.below)
