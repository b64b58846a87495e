"""The parts of an operator that a migration may name, and those its expressions may read."""

from __future__ import annotations

from ....contracts.plan import (
    Aggregate,
    Column,
    Join,
    Plan,
    Program,
    cells_of,
    inputs_of,
    key_column,
    keys_of,
    timers_of,
    window_of,
)
from ....contracts.plan import columns_of as results_of
from ....dsl.format import identifier, sql
from ...model import types
from ...model.same import canonical
from ...model.typed import Typed
from ...operators.rows.origins import reference
from ..compared.versions import SIDES, aggregates_of, side_columns, waiting_columns
from ..texts.parsing import parsed_expression
from ..types.conversions import type_of
from .expressions import parsed


def readable(plan: Plan, id_: str) -> dict[str, Typed]:
    """Return what an expression over an operator's state may read, by name.

    That is keys, cells, timers, the window; and the result of an aggregate, where its cells
    determine it.
    """
    operator = plan.operators[id_]
    found: dict[str, Typed] = {}
    for key in keys_of(operator):
        held = key_column(operator, key.name)
        found[held] = column(held, key.type)
    results: dict[str, Typed] = {}
    for aggregate in aggregates_of(plan, id_):
        cells = aggregate.cells
        found |= {cell.id: column(cell.id, cell.type) for cell in cells}
        result = _result(aggregate)
        results |= {} if result is None else {aggregate.id: result}
    for cell in cells_of(operator):
        if cell.kind == "value":
            found[cell.id] = column(cell.id, cell.type)
    found |= {timer.id: column(timer.id, "TIMESTAMP") for timer in timers_of(operator)}
    if window_of(operator) is not None:
        found["window"] = Typed(reference("window"), types.WINDOW)
    for name, text in results_of(operator).items():
        if text in results:
            found.setdefault(name, results[text])
    return found


def column(name: str, type_: str | None) -> Typed:
    """Return a column of the old state."""
    return Typed(reference(name), type_of(type_))


def _result(aggregate: Aggregate) -> Typed | None:
    """Return the result of an aggregate, where its cells determine it."""
    cells = aggregate.cells
    if any(cell.scale is not None for cell in cells):
        return None
    if len(cells) == 1:
        return column(cells[0].id, cells[0].type)
    if aggregate.function == "sum":
        total, is_empty = (identifier(cell.id) for cell in cells)
        tree = parsed(f"CASE WHEN NOT {is_empty} THEN {total} END")
        return Typed(tree, type_of(cells[0].type))
    return None


def settable(plan: Plan, id_: str) -> dict[str, str]:
    """Return the targets of ``set``, each with its part of the state.

    That is ``state``, ``entries``, or the side or input whose rows wait.
    """
    operator = plan.operators[id_]
    kinds = {cell.id: cell.kind for cell in cells_of(operator)}
    found: dict[str, str] = {}
    for name in types_of(plan, id_):
        word, dot, _ = name.partition(".")
        if name in kinds:
            found[name] = "state" if kinds[name] == "value" else "entries"
        else:
            waits = dot and isinstance(operator, Join | Program)
            found[name] = word if waits else "state"
    return found


def types_of(plan: Plan, id_: str) -> dict[str, str | None]:
    """Return the types of the targets of ``set``, except entries."""
    operator = plan.operators[id_]
    found = {c.id: c.type for one in aggregates_of(plan, id_) for c in one.cells}
    found |= {cell.id: cell.type for cell in cells_of(operator)}
    words = list(SIDES) if isinstance(operator, Join) else []
    words += [given.alias for given in inputs_of(operator)]
    for word in words:
        columns = _columns(plan, id_, word)
        found |= {f"{word}.{one.name}": one.type for one in columns}
    return found


def entry_types(plan: Plan, id_: str, name: str) -> dict[str, str | None]:
    """Return the types of the parts of an entry: key and value for a map, else only ``key``."""
    for cell in cells_of(plan.operators[id_]):
        if cell.id == name and cell.kind == "map":
            return {"key": cell.entry, "value": cell.value}
        if cell.id == name and cell.kind != "value":
            return {"key": cell.entry}
    return {}


def columns_of(plan: Plan, id_: str, word: str) -> dict[str, Typed]:
    """Return the columns of waiting rows: of a side of a join, or of an input."""
    return {one.name: column(one.name, one.type) for one in _columns(plan, id_, word)}


def _columns(plan: Plan, id_: str, word: str) -> list[Column]:
    operator = plan.operators[id_]
    if isinstance(operator, Join):
        return side_columns(plan, operator, SIDES.index(word)) if word in SIDES else []
    return waiting_columns(plan, id_, word) or []


def renameable(plan: Plan, id_: str) -> list[str]:
    """Return the parts of an operator that may be renamed."""
    operator = plan.operators[id_]
    return [
        *(one.id for one in aggregates_of(plan, id_)),
        *(cell.id for cell in cells_of(operator)),
        *(timer.id for timer in timers_of(operator)),
    ]


def same_text(text: str) -> str:
    """Return the canonical text of a call: ``MAX( amount )`` is ``max(amount)``."""
    tree = parsed_expression(text)
    return text if tree is None else sql(canonical(tree))


def known_as(text: str, ids: list[str]) -> str:
    """Return the id of an aggregate however it is written; the text itself for anything else."""
    if text in ids:
        return text
    found = [id_ for id_ in ids if same_text(id_) == same_text(text)]
    return found[0] if found else text
