"""STATE, TTL and TIMERS of an operator: what it keeps for each key, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast import types as ast
from ....dsl.ast.node import Name
from ....dsl.ast.walk import walk
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.chance import is_drawn
from ...model.programs import Cell, CellKind, ProgramInput, ProgramKey, Timer
from ...model.reads import NowCall
from ...model.schema import Duration
from ...model.typed import Typed
from ..clauses.lost_times import time_help_of_any
from ..declarations.durations import duration
from ..scopes.names import check_id
from .reads import checked
from .scope import Names, ProgramScope, hidden_name
from .values import fitted

_KINDS = {"MAP": CellKind.MAP, "SET": CellKind.SET, "LIST": CellKind.LIST}


def state_cells(
    node: st.CreateOperator,
    inputs: tuple[ProgramInput, ...],
    keys: Mapping[str, ProgramKey],
    diagnostics: Diagnostics,
) -> dict[str, Cell]:
    """Return the cells by their names in lower case, after reporting mistakes in them."""
    lives = _lives(node, diagnostics)
    found: dict[str, Cell] = {}
    first: dict[str, Name] = {}
    for declared in node.state:
        name = declared.name
        folded = name.text.lower()
        diagnostics.extend(check_id(name, "cell"))
        taken = first.get(folded)
        if taken is not None:
            diagnostics.add(_twice("cell", name, taken))
            continue
        diagnostics.extend(_hides(name, node, inputs, keys))
        first[folded] = name
        kind, type_ = _type(declared, diagnostics)
        default = _default(declared, kind, type_, node, diagnostics)
        found[folded] = Cell(name.text, kind, type_, default, lives.get(folded))
    return found


def declared_timers(
    node: st.CreateOperator,
    inputs: tuple[ProgramInput, ...],
    keys: Mapping[str, ProgramKey],
    diagnostics: Diagnostics,
) -> dict[str, Timer]:
    """Return the timers by their names in lower case, after reporting mistakes in them."""
    cells = {cell.name.text.lower(): cell.name for cell in node.state}
    found: dict[str, Timer] = {}
    first: dict[str, Name] = {}
    for timer in node.timers:
        name = timer.name
        folded = name.text.lower()
        diagnostics.extend(check_id(name, "timer"))
        taken = first.get(folded) or cells.get(folded)
        if taken is not None:
            diagnostics.add(_twice("timer", name, taken))
            continue
        diagnostics.extend(_hides(name, node, inputs, keys))
        first[folded] = name
        found[folded] = Timer(name.text, timer.domain == "PROCESSING")
        if timer.domain == "EVENT" and all(i.event_time is None for i in inputs):
            diagnostics.add(_no_event_time(timer, inputs))
    return found


def _hides(
    name: Name,
    node: st.CreateOperator,
    inputs: Iterable[ProgramInput],
    keys: Mapping[str, ProgramKey],
) -> Iterable[Diagnostic]:
    """Yield a diagnostic if a cell or timer has the name of the operator, an input or a key."""
    folded = name.text.lower()
    if folded == node.name.text.lower():
        yield hidden_name(name, f"`{name}` is already the name of the operator")
    elif any(given.alias.lower() == folded for given in inputs):
        yield hidden_name(name, f"`{name}` is already an input")
    elif folded in keys:
        yield hidden_name(name, f"`{name}` is already a key")


def _lives(node: st.CreateOperator, diagnostics: Diagnostics) -> dict[str, Duration]:
    """Return how long cells are kept, by their names in lower case."""
    cells = [cell.name.text for cell in node.state]
    found: dict[str, Duration] = {}
    first: dict[str, Name] = {}
    for one in node.ttl:
        folded = one.cell.text.lower()
        if folded not in [name.lower() for name in cells]:
            diagnostics.add(_no_such_cell(one.cell, cells))
            continue
        taken = first.setdefault(folded, one.cell)
        if taken is not one.cell:
            diagnostics.add(_twice("TTL of", one.cell, taken))
        length = duration(one.duration, "a TTL", diagnostics)
        if length is not None:
            found[folded] = length
    return found


def _type(declared: st.StateCell, diagnostics: Diagnostics) -> tuple[CellKind, t.Type]:
    node = declared.type
    if not isinstance(node, ast.CollectionType) or node.name not in _KINDS:
        return CellKind.VALUE, t.from_node(node, diagnostics)
    kind = _KINDS[node.name]
    arguments = [t.from_node(argument, diagnostics) for argument in node.arguments]
    if kind is not CellKind.LIST and not t.is_groupable(arguments[0]):
        diagnostics.add(_bad_entry(declared, node, arguments[0]))
    return kind, t.Map(*arguments) if kind is CellKind.MAP else t.Array(arguments[0])


def _default(
    declared: st.StateCell,
    kind: CellKind,
    type_: t.Type,
    node: st.CreateOperator,
    diagnostics: Diagnostics,
) -> Typed | None:
    if declared.default is None:
        return None
    if kind is not CellKind.VALUE:
        diagnostics.add(_no_default(declared, kind))
        return None
    if found := _changing(declared.default):
        diagnostics.add(_no_constant(declared, found))
        return None
    scope = ProgramScope(Names(node.name.text, (), {}, {}, {}), diagnostics)
    value = checked(declared.default, scope, diagnostics)
    if found := _changing(value.expression):
        diagnostics.add(_no_constant(declared, found))
        return None
    return fitted(value, declared.default, type_, f"cell `{declared.name}`", scope, diagnostics)


def _changing(value: e.Expression) -> e.Call | None:
    """Return the call, if any, that makes a value differ each time it is computed."""
    for node in walk(value):
        if isinstance(node, NowCall) or (isinstance(node, e.Call) and _changes(node)):
            return node
    return None


def _changes(call: e.Call) -> bool:
    return is_drawn(call) or (call.name.text.lower() == "watermark" and not call.arguments)


def _no_constant(declared: st.StateCell, call: e.Call) -> Diagnostic:
    assert declared.default is not None
    return Diagnostic(
        codes.CELL_FORM,
        f"`{declared.name}` begins with another value each time: its default has `{sql(call)}`",
        Label(declared.default.span, "not the same for all keys"),
        help=f"leave the default out, and write `COALESCE({declared.name}, …)` where it is read",
    )


def _twice(what: str, name: Name, first: Name) -> Diagnostic:
    is_life = what == "TTL of"
    return Diagnostic(
        codes.CELL_FORM if is_life else codes.DUPLICATE_NAME,
        f"{what} `{name}` is declared twice",
        Label(name.span, "declared again"),
        secondary=(Label(first.span, "first declared here"),),
        help="keep one of them"
        if is_life
        else "give one of them another name: cells and timers share one namespace",
    )


def _no_such_cell(name: Name, cells: list[str]) -> Diagnostic:
    near = closest(name.text, cells)
    return Diagnostic(
        codes.UNKNOWN_IN_PROGRAM,
        f"there is no cell `{name}` that could have a TTL",
        Label(name.span),
        help=f"did you mean `{near[0]}`?" if near else f"add it: `STATE ({name} …)`",
    )


def _no_event_time(timer: st.Timer, inputs: Iterable[ProgramInput]) -> Diagnostic:
    add = "add `WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE` to a source"
    fix = time_help_of_any((given.schema for given in inputs), add)
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"timer `{timer.name}` uses the watermark, but no input has one",
        Label(timer.span, "would never fire"),
        help=f"{fix}, or write `{timer.name} PROCESSING TIME`",
    )


def _bad_entry(declared: st.StateCell, node: ast.CollectionType, type_: t.Type) -> Diagnostic:
    return Diagnostic(
        codes.CELL_FORM,
        f"an entry of `{declared.name}` can't be keyed by a {type_}",
        Label(node.arguments[0].span, "not comparable"),
        help="use its text, as in `to_json(x)`, or one of its parts",
    )


def _no_default(declared: st.StateCell, kind: CellKind) -> Diagnostic:
    assert declared.default is not None
    return Diagnostic(
        codes.CELL_FORM,
        f"`{declared.name}` is a {kind}, which starts empty",
        Label(declared.default.span),
        help="remove DEFAULT",
    )
