"""QUALIFY by fields of structs, which are ranked under the name of the field."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.format import sql
from ....dsl.reports.diagnostics import Diagnostic
from ...model.typed import Typed
from ..clauses.columns import item_name
from ..scopes.fields import ambiguous_key
from ..scopes.scope import BlockScope
from .top_n import Ranking, other_items


def ambiguous_fields(
    select: q.Select, found: Ranking, scope: BlockScope, *, aggregated: bool
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each field of a struct that has the name of another ranked column.

    Rows of a relation are ranked as they are, those of a window or an aggregate with the selected
    columns.
    """
    of_input = not aggregated and scope.window is None
    quiet = scope.quiet()
    for node in (*found.window.partition_by, *(o.expression for o in found.window.order_by)):
        value = quiet.column(node) if isinstance(node, e.ColumnRef) else None
        if value is None or not quiet.is_part(value.expression):
            continue
        name = value.expression.parts[-1].text
        if of_input:
            taken = scope.knows(name)
        else:
            taken = any(_gives(item, name, value, quiet) for item in other_items(select))
        if taken:
            other = f"the column `{name}`"
            yield ambiguous_key(node, value.expression, other, scope.relations[0].alias)


def _gives(item: q.SelectItem, name: str, value: Typed, scope: BlockScope) -> bool:
    """Return whether an item gives something else than a value under its name."""
    if isinstance(item.expression, e.Star):
        return scope.knows(name)
    if (item_name(item) or "").lower() != name.lower():
        return False
    selected = scope.column(item.expression) if isinstance(item.expression, e.ColumnRef) else None
    return selected is None or sql(selected.expression) != sql(value.expression)
