"""The plan's entry of an aggregate."""

from __future__ import annotations

from ....contracts import plan
from ....dsl.format import sql
from ...model import types
from ...model.same import canonical
from ...model.steps import Aggregate, AggregateCall
from ..entries import branch_entry, key_entry, type_text
from ..rows.origins import Branches, Place
from ..windows import window_entry


def aggregate_entry(step: Aggregate, place: Place) -> plan.Aggregation:
    """Return the groups of an aggregate and the cells of each."""
    return plan.Aggregation(
        id=step.id,
        stream=place.stream,
        window=None if step.window is None else window_entry(step.window),
        keys=tuple(map(key_entry, step.keys)),
        emit="changes" if step.changes else "on window close",
        aggregates=tuple(map(_aggregate, step.calls)),
        columns=_columns(step),
        input=_input(step, place.before()),
    )


def _input(step: Aggregate, branches: Branches) -> tuple[plan.Branch, ...]:
    """Return the rows that are grouped."""
    over = None if step.window is None else step.window.column.expression
    time = [] if over is None else [(sql(over), over)]
    keys = [(key.name, key.value.expression) for key in step.keys]
    aggregates = [(call.id, call.call) for call in step.calls]
    return tuple(branch_entry(b, time=time, keys=keys, aggregates=aggregates) for b in branches)


def _columns(step: Aggregate) -> dict[str, str]:
    """Return the columns that an aggregate emits."""
    ids = {sql(canonical(call.call)): call.id for call in step.calls}
    texts = {c.name: sql(canonical(c.value.expression)) for c in step.columns}
    return {name: ids.get(text, text) for name, text in texts.items()}


def _aggregate(call: AggregateCall) -> plan.Aggregate:
    condition = call.call.filter
    return plan.Aggregate(
        id=call.id,
        function=call.function,
        filter=None if condition is None else sql(condition),
        cells=tuple(
            plan.AggregateCell(id_, cell.buffer, type_text(cell.type), cell.scale)
            for id_, cell in zip(_cell_ids(call), call.cells, strict=True)
        ),
        given=_given(call),
    )


def _given(call: AggregateCall) -> tuple[str | None, ...]:
    """Return the types of an aggregate's arguments, where its cells do not imply them.

    That is where the cells hold Spark's own form of values, or hashes, which depend on the type.
    """
    opaque = any(c.type == types.BINARY or c.buffer.startswith("MS[") for c in call.cells)
    return tuple(type_text(type_) for type_ in call.given) if opaque else ()


def _cell_ids(call: AggregateCall) -> list[str]:
    """Return the ids of an aggregate's cells; names that Spark uses twice are numbered."""
    if len(call.cells) == 1:
        return [call.id]
    names = [cell.buffer for cell in call.cells]
    return [
        f"{call.id}.{name}{f'_{seen + 1}' if (seen := names[:i].count(name)) else ''}"
        for i, name in enumerate(names)
    ]
