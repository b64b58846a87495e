"""The targets of statements: cells of a suitable kind, and timers."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.programs import Cell, CellKind, Timer
from .scope import Names, ProgramScope

_WRITTEN_BY = {
    CellKind.VALUE: "`SET {0} = …`",
    CellKind.MAP: "`PUT {0}[key] = …` or `REMOVE {0}[key]`",
    CellKind.SET: "`ADD … TO {0}` or `REMOVE … FROM {0}`",
    CellKind.LIST: "`APPEND … TO {0}`",
}


def settable(name: Name, scope: ProgramScope, diagnostics: Diagnostics) -> Cell | None:
    """Return the cell of SET, None after a report."""
    cell = scope.names.cells.get(name.text.lower())
    if cell is None:
        locals_ = [local.name for block in scope.blocks for local in block.values()]
        diagnostics.add(_unknown(name, scope, locals_))
    return cell


def cell_for(
    name: Name,
    kinds: tuple[CellKind, ...],
    what: str,
    scope: ProgramScope,
    diagnostics: Diagnostics,
) -> Cell | None:
    """Return the cell of a statement, which is of one of ``kinds``; None after a report."""
    cell = scope.names.cells.get(name.text.lower())
    if cell is None:
        local = scope.local(name.text)
        if local is not None:
            diagnostics.add(_local(name, what, local.type))
        else:
            diagnostics.add(_unknown(name, scope, ()))
        return None
    if cell.kind not in kinds:
        diagnostics.add(_other_kind(name, cell, what))
        return None
    return cell


def timer_of(name: Name, names: Names, diagnostics: Diagnostics) -> Timer | None:
    """Return the timer of a name, None after a report."""
    timer = names.timers.get(name.text.lower())
    if timer is None:
        known = [timer.name for timer in names.timers.values()]
        near = closest(name.text, known)
        fix = f"declare it: `TIMERS ({name} EVENT TIME)`, or PROCESSING TIME"
        if known:
            fix = f"did you mean `{near[0]}`?" if near else f"its timers are: {', '.join(known)}"
        diagnostics.add(
            Diagnostic(
                codes.UNKNOWN_TIMER,
                f"there is no timer `{name}` in `{names.operator}`",
                Label(name.span),
                help=fix,
            )
        )
    return timer


def _unknown(name: Name, scope: ProgramScope, others: Iterable[str]) -> Diagnostic:
    names = scope.names
    near = closest(name.text, (*(cell.name for cell in names.cells.values()), *others))
    folded = name.text.lower()
    column = scope.given is not None and scope.given.schema.find(name.text) is not None
    fix = f"did you mean `{near[0]}`?" if near else f"declare it: `STATE ({name} …)`"
    if folded in names.timers:
        fix = f"`{name}` is a timer: `START TIMER {name} AT …`"
    elif column or folded in names.keys:
        fix = f"a row and its key are read only: `DECLARE x … = {name};`, and change that"
    return Diagnostic(
        codes.UNKNOWN_IN_PROGRAM,
        f"there is no cell `{name}` in `{names.operator}`",
        Label(name.span),
        help=fix,
    )


def _local(name: Name, what: str, type_: t.Type) -> Diagnostic:
    instead = {
        "CLEAR": f"`SET {name} = NULL`",
        "APPEND": f"`SET {name} = array_append({name}, …)`",
        "PUT": f"`SET {name} = map_concat({name}, map(key, value))`",
    }
    return Diagnostic(
        codes.CELL_KIND,
        f"{what} is for cells of state, `{name}` is a local",
        Label(name.span, str(type_)),
        help=f"write {instead.get(what, f'`SET {name} = …`')}",
    )


def _other_kind(name: Name, cell: Cell, what: str) -> Diagnostic:
    declared = f"a {cell.kind.name} of state" if cell.kind is not CellKind.VALUE else cell.type
    fix = f"write {_WRITTEN_BY[cell.kind].format(cell.name)}"
    if what == "APPEND" and isinstance(cell.type, t.Array) and cell.kind is CellKind.VALUE:
        fix = f"declare it as `{cell.name} LIST<{cell.type.element}>`"
    elif what == "REMOVE … FROM" and cell.kind is CellKind.MAP:
        fix = f"write `REMOVE {cell.name}[key]`"
    return Diagnostic(
        codes.CELL_KIND,
        f"{what} does not go with `{cell.name}`, which is {declared}",
        Label(name.span),
        help=fix,
    )
