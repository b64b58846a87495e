"""Fields of structs, and the diagnostics about unknown ones, and about keys that are fields."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.schema import Schema


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


def taken_name(key: e.Expression, schema: Schema, others: Iterable[e.Expression]) -> str | None:
    """Return what else has the name that a resolved key would have, None if nothing has.

    A key that is a field of a struct is called after the field: to whatever reads it, a column of
    that name, or another key, would be the same.
    """
    if not isinstance(key, e.ColumnRef) or len(key.parts) == 1:
        return None
    name = key.parts[-1].text
    if schema.find(name) is not None:
        return f"the column `{name}`"
    for other in others:
        same = isinstance(other, e.ColumnRef) and other.parts[-1].text.lower() == name.lower()
        if same and sql(other) != sql(key):
            return f"the key `{sql(other)}`"
    return None


def ambiguous_key(node: e.Expression, key: e.Expression, other: str, relation: str) -> Diagnostic:
    """Return the diagnostic for a key whose name is another one's."""
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"the key `{sql(key)}` would have the name of {other}",
        Label(node.span),
        help=f"name it first: `(SELECT *, {sql(key)} AS key FROM {relation}) AS keyed`",
    )
