"""The columns of a join's waiting rows: conditions on a single side are evaluated before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....dsl.ast.expressions import Expression
from ...model.conditions import conjuncts
from ...model.steps import Join, JoinSide
from ..rows.needed import Demand, Needed, named, references

_WHOLE: Mapping[str, tuple[str, ...]] = {
    "inner": ("left", "right"),
    "left": ("left",),
    "right": ("right",),
    "full": (),
}
"""The sides whose conditions above a join are evaluated before it."""

_OTHERS = {("left",): ("right",), ("right",): ("left",), (): ()}
"""The sides whose conditions in an outer join itself are evaluated before it."""


def waiting(step: Join, demand: Demand) -> tuple[tuple[str, ...], ...]:
    """Return the waiting columns of each side: a side kept whole is filtered before it waits."""
    needed = demand.columns | _asked_after(step, demand.conditions, _WHOLE[step.join])
    return tuple(_side_columns(step, side, needed) for side in (step.left, step.right))


def read_of(step: Join, side: JoinSide, demand: Demand) -> Needed:
    """Return what a side of a join needs from its relation, including the time of a window."""
    wanted = demand.whole | references([step.condition.expression])
    columns = named(_columns_of(side, wanted))
    if side.window is None:
        return columns
    return columns - {(side.window.struct,)} | references([side.window.column.expression])


def _side_columns(step: Join, side: JoinSide, needed: Needed) -> tuple[str, ...]:
    """Return the columns of a side's waiting rows.

    A condition on a single side is evaluated before a row waits, unless the row is kept anyway.
    """
    whole = _WHOLE[step.join]
    optional = ("left", "right") if step.join == "inner" else _OTHERS[whole]
    paired = _asked_after(step, [step.condition.expression], optional)
    return _columns_of(side, needed | paired)


def _asked_after(step: Join, conditions: Iterable[Expression], sides: tuple[str, ...]) -> Needed:
    """Return what is read by the conditions that are not on a single one of these sides."""
    aliases = {"left": step.left.alias, "right": step.right.alias}
    alone = [{aliases[side]} for side in sides]
    return references(
        part
        for condition in conditions
        for part in conjuncts(condition)
        if {parts[0] for parts in references([part])} not in alone
    )


def _columns_of(side: JoinSide, wanted: Needed) -> tuple[str, ...]:
    names = {parts[1] for parts in wanted if len(parts) > 1 and parts[0] == side.alias}
    return tuple(name for name in side.schema.names() if name in names)
