"""The plan's entry of a program."""

from __future__ import annotations

from dataclasses import replace

from ....contracts import plan
from ....dsl.format import sql
from ...model import types
from ...model.programs import Cell, CellKind, Operator, Panes, ProgramInput, columns_used
from ..entries import branch_entry, column_of, type_text
from ..rows.origins import Branches, Place, Terms, reference, substitute
from ..windows import window_entry
from .text import handler_lines


def program_entry(step: Operator, place: Place, inputs: tuple[Branches, ...]) -> plan.Program:
    """Return a program's inputs, its state for each key, its handlers and its output."""
    return plan.Program(
        id=step.id,
        stream=place.stream,
        window=None if step.panes is None else window_entry(step.panes.window),
        panes=None if step.panes is None else _panes(step.panes),
        keys=tuple(plan.Column(key.name, type_text(key.type)) for key in step.keys),
        inputs=tuple(
            plan.ProgramInput(
                alias=given.alias,
                relation=given.relation,
                event_time=given.event_time,
                input=_input(step, given, branches),
            )
            for given, branches in zip(step.inputs, inputs, strict=True)
        ),
        ordered=step.ordered,
        cells=tuple(map(_cell, step.cells)),
        timers=tuple(
            plan.Timer(id=timer.name, time="processing" if timer.processing else "event")
            for timer in step.timers
        ),
        returns=tuple(map(column_of, step.returns)),
        handlers=None if step.python is None else "python",
        python_class=step.python,
        declared=step.declared,
        statements=tuple(handler_lines(step)),
        code=None if step.python is None else place.code(step.python),
    )


def _input(step: Operator, given: ProgramInput, branches: Branches) -> tuple[plan.Branch, ...]:
    """Return the rows of an input, with all of its columns that are read.

    The plan says nowhere else which columns these are.
    """
    aliases: Terms = {(given.alias, name): reference(name) for name in given.schema.names()}
    keys = [
        (key.name, substitute(own.expression, aliases))
        for key, own in zip(step.keys, given.keys, strict=True)
    ]
    used = columns_used(step, given)
    return tuple(
        replace(
            branch_entry(branch, keys=keys),
            columns={name: branch.text(reference(name)) for name in used},
        )
        for branch in branches
    )


def _panes(panes: Panes) -> plan.Panes:
    return plan.Panes(
        early=None if panes.early is None else panes.early.text,
        lateness=None if panes.lateness is None else panes.lateness.text,
    )


def _cell(cell: Cell) -> plan.ProgramCell:
    """Return a cell; one that is read and written by entry has the type of its entries."""
    value = cell.type.value if isinstance(cell.type, types.Map) else None
    return plan.ProgramCell(
        id=cell.name,
        kind=cell.kind.value,
        type=type_text(cell.type),
        entry=None if cell.kind is CellKind.VALUE else type_text(cell.entry),
        value=None if value is None or cell.kind is not CellKind.MAP else type_text(value),
        default=None if cell.default is None else sql(cell.default.expression),
        ttl=None if cell.ttl is None else cell.ttl.text,
    )
