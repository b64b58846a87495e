"""Fields of structs, and the diagnostic about an unknown one."""

from __future__ import annotations

from ....dsl import codes
from ....dsl.ast.node import Name
from ....dsl.diagnostics import Diagnostic, Label
from ....dsl.suggest import closest
from ...model import types as t


def field_of(type_: t.Type, name: str) -> t.Field | None:
    """Return a field of a struct; of an array of structs, the array of that field of each."""
    match type_:
        case t.Array(t.Struct() as element):
            inner = element.field(name)
            return None if inner is None else t.Field(inner.name, t.Array(inner.type))
        case t.Struct():
            return type_.field(name)
    return None


def unknown_field(type_: t.Type, name: Name, written: str, otherwise: str = "") -> Diagnostic:
    """Return the diagnostic for a field that a value, as ``written``, does not have.

    ``otherwise`` is a suggestion for a value without any fields.
    """
    struct = type_.element if isinstance(type_, t.Array) else type_
    if not isinstance(struct, t.Struct):
        help_ = f"remove `.{name}`{otherwise}"
        if isinstance(type_, t.Map) and type_.key == t.STRING:
            help_ = f"write `{written}['{name}']`"
        elif type_ == t.VARIANT:
            help_ = f"write `{written}:{name}`"
        return Diagnostic(
            codes.UNKNOWN_FIELD,
            f"`{written}` is {type_}, which has no fields",
            Label(name.span),
            help=help_,
        )
    known = [field.name for field in struct.fields]
    near = closest(name.text, known)
    return Diagnostic(
        codes.UNKNOWN_FIELD,
        f"there is no field `{name}` in `{written}`",
        Label(name.span),
        help=f"did you mean `{near[0]}`?" if near else f"its fields are: {', '.join(known)}",
    )
