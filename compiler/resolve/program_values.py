"""Values on their way to where a program puts them."""

from __future__ import annotations

from ...dsl import codes
from ...dsl.ast import expressions as e
from ...dsl.diagnostics import Code, Diagnostic, Diagnostics, Label
from ..model import types as t
from ..model.coercion import can_cast
from ..model.typed import Typed
from .conversions import converted_to
from .program_reads import PROGRAM
from .program_scope import ProgramScope
from .typing import Context


def fitted(
    value: Typed,
    node: e.Expression,
    wanted: t.Type,
    where: str,
    scope: ProgramScope,
    diagnostics: Diagnostics,
    code: Code = codes.ASSIGNED_TYPE,
) -> Typed:
    """Return a value as one of the type that a place has, after a report as it is.

    ``where`` names the place: ``cell `n` ``.
    """
    context = Context(scope, PROGRAM, diagnostics)
    found = converted_to(value, wanted, context)
    if found is not None:
        return found
    text = context.text(node)
    diagnostics.add(
        Diagnostic(
            code,
            f"{where} is {wanted}, `{text}` is {value.type}",
            Label(node.span, str(value.type)),
            help=f"write `CAST({text} AS {wanted})`"
            if can_cast(value.type, wanted)
            else f"give it a value of type {wanted}",
        )
    )
    return value
