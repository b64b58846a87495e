"""Columns, fields, elements."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.coercion import common_type
from ...model.typed import Typed
from ..scopes.fields import field_of, unknown_field
from .typing import Context, typed, unknown

_CALLED_WITHOUT_PARENTHESES = frozenset({"current_date", "current_timestamp", "current_user"})


@typed.register(e.ColumnRef)
def _typed_column(node: e.ColumnRef, context: Context) -> Typed:
    head = node.parts[0].text.lower()
    for parameters in reversed(context.lambdas):
        if head in parameters:
            return _parameter(node, parameters[head], context)
    called = len(node.parts) == 1 and head in _CALLED_WITHOUT_PARENTHESES
    # A column of that name takes precedence, as in Spark.
    if called and not context.scope.knows(head):
        return typed(e.Call(node.span, node.parts[0], ()), context)
    return context.scope.column(node) or unknown(node)


def _parameter(node: e.ColumnRef, type_: t.Type, context: Context) -> Typed:
    for part in node.parts[1:]:
        type_ = field_type(type_, part, node, context)
    return Typed(node, type_)


@typed.register(e.FieldAccess)
def _typed_field(node: e.FieldAccess, context: Context) -> Typed:
    operand = typed(node.operand, context)
    type_ = field_type(operand.type, node.field, node.operand, context)
    return Typed(e.FieldAccess(node.span, operand.expression, node.field), type_)


def field_type(type_: t.Type, name: Name, owner: e.Expression, context: Context) -> t.Type:
    """Return the type of a field of a struct (of each struct, for an array of them)."""
    found = field_of(type_, name.text)
    if found is not None:
        return found.type
    if type_ is not t.UNKNOWN:
        context.report(unknown_field(type_, name, context.text(owner)))
    return t.UNKNOWN


@typed.register(e.Index)
def _typed_index(node: e.Index, context: Context) -> Typed:
    operand, index = typed(node.operand, context), typed(node.index, context)
    resolved = e.Index(node.span, operand.expression, index.expression)
    if operand.type is t.UNKNOWN:
        return Typed(resolved, t.UNKNOWN)
    match operand.type:
        case t.Array(element):
            if not t.is_integral(index.type) and not t.is_open(index.type):
                context.report(_bad_index(node, index.type, "a whole number", context))
            return Typed(resolved, element)
        case t.Map(key, value):
            if common_type(key, index.type) is None:
                context.report(_bad_index(node, index.type, str(key), context))
            return Typed(resolved, value)
        case t.Struct() if isinstance(node.index, e.StringLiteral):
            name = Name(node.index.span, node.index.value)
            return Typed(resolved, field_type(operand.type, name, node.operand, context))
    context.report(_no_elements(node, operand.type, context))
    return Typed(resolved, t.UNKNOWN)


@typed.register(e.VariantPath)
def _typed_variant_path(node: e.VariantPath, context: Context) -> Typed:
    operand = typed(node.operand, context)
    if operand.type != t.VARIANT and not t.is_open(operand.type):
        context.report(_no_variant(node, operand.type, context))
    return Typed(e.VariantPath(node.span, operand.expression, node.path), t.VARIANT)


def _bad_index(node: e.Index, type_: t.Type, wanted: str, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`{context.text(node.operand)}` is indexed by {wanted}, not by {type_}",
        Label(node.index.span, str(type_)),
        help=f"write `{context.text(node.operand)}[…]` with {wanted} between the brackets",
    )


def _no_elements(node: e.Index, type_: t.Type, context: Context) -> Diagnostic:
    written = context.text(node.operand)
    fix = f"`{written}[…]` reads an ARRAY by position or a MAP by key"
    if type_ == t.STRING:
        fix = f"write `substring({written}, 1, 1)` for a character"
    elif type_ == t.VARIANT:
        fix = f"write a path, as in `{written}:name` or `{written}:[0]`"
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`{written}` is {type_}, which has no elements",
        Label(node.operand.span, str(type_)),
        help=fix,
    )


def _no_variant(node: e.VariantPath, type_: t.Type, context: Context) -> Diagnostic:
    written = context.text(node.operand)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"`:` reads a VARIANT, but `{written}` is {type_}",
        Label(node.operand.span, str(type_)),
        help=f"write `parse_json({written}):{node.path}`"
        if type_ == t.STRING
        else f"write `{written}.{node.path}` for a field",
    )
