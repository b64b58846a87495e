"""Lookup joins: each row of a stream with the current rows of a table with its key.

No state is kept and no bound in time is needed: the rows of the table do not arrive.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types
from ...model.conditions import conjuncts
from ...model.schema import Schema
from ...model.steps import Lookup
from ..expressions.resolve import Clause, check
from ..scopes.relation_builder import Chain
from ..scopes.scope import BlockScope, Visible

_KINDS = ("INNER", "LEFT")


@dataclass(frozen=True, slots=True)
class LookupJoin:
    """A join with a table in FROM: the table's name, and its columns under their alias."""

    node: q.Join
    table: str
    visible: Visible


def refuse_lookup_kind(node: q.Join, table: str, diagnostics: Diagnostics) -> bool:
    """Report a join with a table that is neither inner nor left; return whether it is one."""
    if node.kind in _KINDS:
        return False
    diagnostics.add(_bad_kind(node, table))
    return True


def add_lookup(lookup: LookupJoin, before: Sequence[Visible], first: bool, chain: Chain) -> None:
    """Append the Lookup to a chain of relations; ``first`` when only one precedes it."""
    diagnostics = chain.context.diagnostics
    node, visible = lookup.node, lookup.visible
    if node.condition is None:
        diagnostics.add(_no_condition(node))
        return
    scope = BlockScope((*before, visible), diagnostics, qualified=True)
    condition = check(node.condition, scope, Clause("ON", aggregates=False), diagnostics)
    if condition.type is types.UNKNOWN:
        return
    if not _has_key(condition.expression, visible.alias):
        diagnostics.add(_no_key(node, before[0], visible))
    chain.add(
        Lookup(
            join=node.kind.lower(),
            left=before[0].alias if first else None,
            table=lookup.table,
            alias=visible.alias,
            schema=visible.schema,
            condition=condition,
        ),
        Schema((*chain.schema.fields, *visible.schema.fields)),
    )


def _has_key(condition: e.Expression, table: str) -> bool:
    """Return whether a condition equates something of the table with something of the stream."""
    for part in conjuncts(condition):
        if isinstance(part, e.Binary) and part.operator == "=":
            left, right = _aliases(part.left), _aliases(part.right)
            if {table} in (left, right) and left and right and left != right:
                return True
    return False


def _aliases(expression: e.Expression) -> set[str]:
    return {n.parts[0].text for n in walk(expression) if isinstance(n, e.ColumnRef)}


def _bad_kind(node: q.Join, table: str) -> Diagnostic:
    why = f"a {node.kind} JOIN would wait forever for rows of `{table}` that nothing looks up"
    if node.kind == "CROSS":
        why = f"a CROSS JOIN would give each row all of `{table}`"
    return Diagnostic(
        codes.LOOKUP_FORM,
        why,
        Label(node.span),
        help=f"write `JOIN {table} … ON …`, or `LEFT JOIN` to keep rows without a partner",
    )


def stream_behind(node: q.Join, table: str, stream: str) -> Diagnostic:
    """Return the diagnostic for a table joined with a stream instead of the other way round."""
    kind = "LEFT JOIN" if node.kind in ("RIGHT", "FULL") else "JOIN"
    return Diagnostic(
        codes.LOOKUP_FORM,
        f"`{table}` is a table: streams look up rows in it, not the other way round",
        Label(node.left.span),
        help=f"start with the stream: `FROM {stream} {kind} {table} ON …`",
    )


def _no_condition(node: q.Join) -> Diagnostic:
    columns = f" (USING {', '.join(n.text for n in node.using)})" if node.using else ""
    return Diagnostic(
        codes.LOOKUP_FORM,
        f"a lookup needs ON{columns}",
        Label(node.span),
        help="write `ON t.id = o.id`",
    )


def _no_key(node: q.Join, stream: Visible, table: Visible) -> Diagnostic:
    shared = [field.name for field in table.schema if stream.schema.find(field.name)]
    name = shared[0] if shared else "id"
    return Diagnostic(
        codes.LOOKUP_FORM,
        f"the condition has no equality between `{table.alias}` and the stream",
        Label(node.condition.span if node.condition else node.span),
        help="add one that finds rows of the table, as in "
        f"`{table.alias}.{name} = {stream.alias}.{name}`",
    )
