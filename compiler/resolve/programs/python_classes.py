"""ON EVENT USING PYTHON: an operator whose handlers are a class, and the types it can get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....contracts.targets import target_parts
from ....dsl.ast import programs as p
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.programs import Cell, ProgramInput
from ...model.schema import Schema
from .handlers import head


def python_class(node: st.CreateOperator, diagnostics: Diagnostics) -> str | None:
    """Return the Python class that has the handlers, None if they are programs."""
    found = next((h for h in node.handlers if h.python is not None), None)
    if found is None or found.python is None:
        return None
    if target_parts(found.python) is None:
        diagnostics.add(_no_class(found))
    others = [handler for handler in node.handlers if handler is not found]
    if others:
        diagnostics.add(_beside(others[0], found))
    elif found.name is not None and len(node.inputs) > 1:
        diagnostics.add(_one_input(found, node))
    return found.python


def check_python(
    node: st.CreateOperator,
    inputs: tuple[ProgramInput, ...],
    cells: Mapping[str, Cell],
    returns: Schema,
) -> Iterator[Diagnostic]:
    """Yield the values that can't be passed to a class, because of their types."""
    for what, type_, span in _handed(node, inputs, cells, returns):
        if (foreign := _foreign(type_)) is not None:
            yield _no_type(what, foreign, span)


def _handed(
    node: st.CreateOperator,
    inputs: tuple[ProgramInput, ...],
    cells: Mapping[str, Cell],
    returns: Schema,
) -> Iterator[tuple[str, t.Type, Span]]:
    """Yield the values a class gets and returns, with their types and locations."""
    for given, declared in zip(inputs, node.inputs, strict=True):
        for field in given.schema:
            yield f"column `{field.name}` of `{given.alias}`", field.type, declared.span
    spans = {cell.name.text: cell.span for cell in node.state}
    for cell in cells.values():
        yield f"cell `{cell.name}`", cell.type, spans[cell.name]
    for field, column in zip(returns, node.returns, strict=True):
        yield f"column `{field.name}` of RETURNS", field.type, column.name.span


def _foreign(type_: t.Type) -> t.Type | None:
    """Return the first type in a type that can't be passed.

    PySpark has no value for the first and for months; Spark keeps no interval in such state.
    """
    match type_:
        case t.Array(element):
            return _foreign(element)
        case t.Map(key, value):
            return _foreign(key) or _foreign(value)
        case t.Struct(fields):
            return next(filter(None, (_foreign(field.type) for field in fields)), None)
        case t.Scalar("VARIANT") | t.IntervalType():
            return type_
    return None


def _no_class(handler: p.Handler) -> Diagnostic:
    return Diagnostic(
        codes.PYTHON_OPERATOR,
        f"`{handler.python}` does not name a class of a Python module",
        Label(handler.span),
        help="write `USING PYTHON 'module:Class'`",
    )


def _beside(handler: p.Handler, python: p.Handler) -> Diagnostic:
    return Diagnostic(
        codes.PYTHON_OPERATOR,
        "a Python class has all handlers of an operator, but here is another one",
        Label(head(handler)),
        secondary=(Label(python.span, "delegated to Python here"),),
        help="move its statements into the class, which is called for rows and for timers",
    )


def _one_input(python: p.Handler, node: st.CreateOperator) -> Diagnostic:
    assert python.name is not None
    return Diagnostic(
        codes.PYTHON_OPERATOR,
        "a Python class handles the rows of all inputs, not of a single one",
        Label(python.name.span),
        help=f"leave out `{python.name}`: each of the {len(node.inputs)} inputs has a method of "
        f"the class, `on_event_{python.name}` and so on",
    )


def _no_type(what: str, type_: t.Type, span: Span) -> Diagnostic:
    match type_:
        case t.IntervalType(is_day_time=True):
            other = "a BIGINT, a number of seconds"
        case t.IntervalType():
            other = "an INT, a number of months"
        case _:
            other = "a STRING"
    return Diagnostic(
        codes.PYTHON_OPERATOR,
        f"{what} can't be passed to or from a Python class: it has no {type_}",
        Label(span),
        help=f"make it {other}; if the class does not need it, leave it out in an earlier stream",
    )
