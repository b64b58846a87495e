"""The select list of a SELECT that becomes a program, which emits the rows."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.schema import Field, Schema
from ...model.typed import Typed
from ..clauses.columns import Item, resolve_items
from ..expressions.declared_calls import is_python_call, no_python_here
from ..scopes.scope import BlockScope


def program_items(
    items: tuple[q.SelectItem, ...],
    scope: BlockScope,
    where: str,
    diagnostics: Diagnostics,
    before: int,
) -> tuple[Item, ...]:
    """Return a resolved select list, each column with a known type; report those without.

    ``where`` names the SELECT, for refusing calls of Python functions. ``before`` is how many
    errors there were before it: a mistake has no type, which is not reported again.
    """
    found = resolve_items(items, scope, diagnostics, aggregates=False)
    for item in found:
        refuse_python(item.value, where, diagnostics)
        if not has_type(item.value) and diagnostics.errors == before:
            diagnostics.add(no_type(item.value.expression))
    return found


def has_type(value: Typed) -> bool:
    """Return whether a value can be in a row or in state."""
    return t.is_known(value.type) and value.type is not t.NULL


def refuse_python(value: Typed, where: str, diagnostics: Diagnostics) -> None:
    """Report calls of Python functions in an expression of a program."""
    for node in walk(value.expression):
        if is_python_call(node) and isinstance(node, e.Call):
            diagnostics.add(no_python_here(node, where))


def no_type(node: e.Expression) -> Diagnostic:
    """Return the diagnostic for a value of a program whose type is unknown."""
    return Diagnostic(
        codes.PROGRAM_TYPE,
        "the type of this is unknown, but state and rows of a program have types",
        Label(node.span),
        help="write `CAST(… AS STRING)`, or the right type",
    )


def returns_of(items: Iterable[Item]) -> Schema:
    """Return the output columns of a program; its event time is determined later."""
    return Schema(tuple(Field(i.name, i.value.type, i.value.nullable) for i in items))
