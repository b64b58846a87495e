"""CAST, TRY_CAST and EXTRACT."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.coercion import can_cast
from ...model.date_parts import PARTS, part_named, part_type
from ...model.typed import Typed
from .literals import text_as_moment
from .typing import Context, typed


@typed.register(e.Cast)
def _typed_cast(node: e.Cast, context: Context) -> Typed:
    operand = typed(node.operand, context)
    target = t.from_node(node.type, context.diagnostics)
    resolved = e.Cast(node.span, operand.expression, node.type, node.is_try)
    if not can_cast(operand.type, target):
        context.report(_impossible_cast(node, operand.type, target, context))
    nullable = operand.nullable or node.is_try or not keeps_values(operand.type, target)
    return Typed(resolved, target, nullable)


def keeps_values(source: t.Type, target: t.Type) -> bool:
    """Return whether a cast never turns a value into NULL, whatever Spark's settings."""
    if source == target or target == t.STRING:
        return True
    wider = t.is_integral(source) and t.is_integral(target)
    return wider and t.INTEGRALS.index(source) <= t.INTEGRALS.index(target)


@typed.register(e.Extract)
def _typed_extract(node: e.Extract, context: Context) -> Typed:
    source = typed(node.source, context)
    resolved = e.Extract(node.span, node.field, source.expression)
    return Typed(resolved, _part_type(node, source, context))


def _part_type(node: e.Extract, source: Typed, context: Context) -> t.Type:
    part = part_named(node.field)
    if part is None:
        context.report(_unknown_part(node))
        return t.UNKNOWN
    source_type = source.type
    if text_as_moment(source, t.TIMESTAMP, context):
        source_type = t.TIMESTAMP
    found = part_type(part, source_type)
    if found is not None:
        return found
    if isinstance(source_type, t.IntervalType):
        context.report(_no_such_part(node, source_type, context))
    else:
        context.report(_no_parts(node, source_type, context))
    return t.UNKNOWN


def _impossible_cast(node: e.Cast, source: t.Type, target: t.Type, context: Context) -> Diagnostic:
    written = context.text(node.operand)
    return Diagnostic(
        codes.IMPOSSIBLE_CAST,
        f"{source} cannot be cast to {target}",
        Label(node.span),
        help=_cast_help(written, source, target),
    )


def _cast_help(written: str, source: t.Type, target: t.Type) -> str:
    if t.is_numeric(source) and target == t.DATE:
        return f"write `date_from_unix_date({written})` for days since 1970"
    if source == t.DATE and t.is_numeric(target):
        return f"write `unix_date({written})` for days since 1970"
    if source == t.STRING and isinstance(target, (t.Array, t.Map, t.Struct)):
        return f"write `from_json({written}, '…')` if it contains JSON"
    if isinstance(source, (t.Array, t.Map, t.Struct)):
        return f"write `to_json({written})` for its text"
    if t.is_numeric(source) and isinstance(target, t.IntervalType):
        return f"write `{written} * INTERVAL 1 {target.end}`"
    return f"write `CAST({written} AS STRING)` for its text"


def _unknown_part(node: e.Extract) -> Diagnostic:
    near = closest(node.field, PARTS)
    return Diagnostic(
        codes.UNKNOWN_DATE_PART,
        f"EXTRACT has no field `{node.field}`",
        Label(node.span),
        help=f"did you mean `{near[0]}`?" if near else f"the fields are: {', '.join(PARTS)}",
    )


def _no_such_part(node: e.Extract, type_: t.IntervalType, context: Context) -> Diagnostic:
    return Diagnostic(
        codes.UNKNOWN_DATE_PART,
        f"`{context.text(node.source)}` is {type_}, which has no `{node.field}`",
        Label(node.span),
        help=f"its fields are: {', '.join(type_.units)}",
    )


def _no_parts(node: e.Extract, type_: t.Type, context: Context) -> Diagnostic:
    written = context.text(node.source)
    return Diagnostic(
        codes.OPERAND_TYPE,
        f"EXTRACT takes a date, a time or an interval, but `{written}` is {type_}",
        Label(node.source.span, str(type_)),
        help=f"write `CAST({written} AS TIMESTAMP)`",
    )
