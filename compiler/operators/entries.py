"""Shared parts of operators' entries in the plan: columns, keys, the rows that reach them.

A branch names what is below, the conditions that rows passed, and what keys, aggregates and columns
are in terms of it, where that differs from their names. A migration must not mistake other rows for
these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ...contracts import plan
from ...dsl.ast.expressions import Expression
from ...dsl.format import sql
from ...dsl.reports.diagnostics import InternalError
from ..model import types
from ..model.schema import Field, Schema
from ..model.steps import Key
from .rows.origins import Branch, reference

Named: TypeAlias = Sequence[tuple[str, Expression]]
"""Expressions over rows, by name."""


def branch_entry(
    branch: Branch,
    *,
    time: Named = (),
    keys: Named = (),
    aggregates: Named = (),
    columns: Named = (),
) -> plan.Branch:
    """Return rows that reach an operator, and what it computes in terms of what is below."""
    return plan.Branch(
        below=branch.below,
        where=tuple(sorted(set(branch.where))),
        time=_renamed(branch, time),
        keys=_renamed(branch, keys),
        aggregates=_renamed(branch, aggregates),
        columns=_renamed(branch, columns) or None,
    )


def _renamed(branch: Branch, named: Named) -> Mapping[str, str]:
    """Return expressions in terms of what is below, where these differ from their names."""
    texts = {name: branch.text(expression) for name, expression in named}
    return {n: text for n, text in texts.items() if text not in (n, sql(reference(n)))}


def by_reference(names: Iterable[str]) -> Named:
    """Return columns as expressions by their names."""
    return [(name, reference(name)) for name in names]


def key_entry(key: Key) -> plan.Column:
    """Return a grouping key."""
    return plan.Column(key.name, type_text(key.value.type))


def column_of(field: Field) -> plan.Column:
    """Return a column."""
    return plan.Column(field.name, type_text(field.type))


def kept_columns(schema: Schema, names: Iterable[str]) -> tuple[plan.Column, ...]:
    """Return the columns of these names. Raises ``InternalError`` for a missing one."""
    return tuple(column_of(_found(schema, name)) for name in names)


def _found(schema: Schema, name: str) -> Field:
    field = schema.find(name)
    if field is None:
        raise InternalError(f"no column {name}")
    return field


def type_text(type_: types.Type) -> str | None:
    """Return a type as text, None for one that only Spark knows."""
    return str(type_) if types.is_known(type_) else None
