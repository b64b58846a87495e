"""How an event time was lost: reported where one is needed and missing."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast.walk import walk
from ....dsl.format import sql
from ...model.schema import LostTime, Schema
from ..scopes.scope import BlockScope
from .columns import Item


def lost_time(items: Iterable[Item], scope: BlockScope, where: str) -> LostTime | None:
    """Return how a projection loses the event time of its rows; None if it keeps one."""
    items = tuple(items)
    if any(item.field.watermark is not None for item in items):
        return None
    times = [field.name for one in scope.relations for field in one.schema.event_times()]
    if not times:
        return next((r.schema.lost for r in scope.relations if r.schema.lost is not None), None)
    for item in items:
        for node in walk(item.value.expression):
            field = scope.field(node) if isinstance(node, e.ColumnRef) else None
            if field is not None and field.watermark is not None:
                return LostTime(where, field.name, item.name, sql(item.value.expression))
    return LostTime(where, times[0])


ADD_WATERMARK = "add `WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE` to its source"


def time_help(schema: Schema, otherwise: str = ADD_WATERMARK) -> str:
    """Return help on giving a relation an event time; ``otherwise`` if its input has none."""
    lost = schema.lost
    if lost is None:
        return otherwise
    time, made, by = lost.time, lost.made, lost.by
    if made is None:
        return f"select `{time}` in `{lost.where}` too: it is the event time of its rows"
    other = f"{made}_computed" if made.lower() == time.lower() else made
    return (
        f"`{lost.where}` computes `{made}` from the event time `{time}`, and a computed time has "
        f"no watermark;\nselect both: `{time}, {by} AS {other}`, and use `{time}` here"
    )


def time_help_of_any(schemas: Iterable[Schema], otherwise: str) -> str:
    """Return help on giving one of several relations an event time."""
    lost = next((schema for schema in schemas if schema.lost is not None), None)
    return otherwise if lost is None else time_help(lost, otherwise)
