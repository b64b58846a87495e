"""Unbounded state: its diagnostic, and the bound that would fix it."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.types import SimpleType
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model.typed import Typed

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")


def unbounded(select: q.Select, stream: str, times: Sequence[Typed]) -> Diagnostic:
    """Return the diagnostic for an aggregate whose groups nothing closes.

    ``times`` are the event times of its input.
    """
    span = select.group_by[0].span.to(select.group_by[-1].span) if select.group_by else select.span
    return Diagnostic(
        codes.UNBOUNDED_STATE,
        "the state of this aggregate would grow forever: nothing closes its groups",
        Label(span, "one entry of state for each group, kept forever"),
        help=f"{_bound(select, times)}, or accept it: "
        f"`CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def _bound(select: q.Select, times: Sequence[Typed]) -> str:
    """Return what would close the groups, in the names of the query where they are known."""
    relation = select.relation.name.text if isinstance(select.relation, q.TableRef) else "t"
    rounded = _rounded(select)
    if rounded is not None:
        column, unit = rounded
        window = f"FROM TUMBLE({relation}, {column}, INTERVAL 1 {unit})"
        return (
            f"a time truncated to the {unit.lower()} closes nothing, but a window does: `{window} "
            "… GROUP BY …, window_start`"
        )
    column = "ts"
    if len(times) == 1 and isinstance(times[0].expression, e.ColumnRef):
        column = times[0].expression.parts[-1].text
    window = f"FROM TUMBLE({relation}, {column}, INTERVAL 1 HOUR)"
    return f"group by a window, as in `{window} … GROUP BY …, window_start`"


def _rounded(select: q.Select) -> tuple[str, str] | None:
    """Return the column and the unit of a key such as ``DATE_TRUNC('HOUR', ts)``."""
    aliases = {i.alias.text.lower(): i.expression for i in select.items if i.alias is not None}
    for key in select.group_by:
        if isinstance(key, e.ColumnRef) and len(key.parts) == 1:
            key = aliases.get(key.parts[0].text.lower(), key)
        match key:
            case e.Call(_, name, (e.StringLiteral(_, unit), e.ColumnRef() as column)) if (
                name.text.lower() == "date_trunc" and unit.upper() in _UNITS
            ):
                return column.parts[-1].text, unit.upper()
            case e.Call(_, name, (e.ColumnRef() as column,)) if name.text.lower() in (
                "date",
                "to_date",
            ):
                return column.parts[-1].text, "DAY"
            case e.Cast(_, e.ColumnRef() as column, SimpleType(_, "DATE")):
                return column.parts[-1].text, "DAY"
    return None
