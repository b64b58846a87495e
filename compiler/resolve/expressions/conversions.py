"""Values on their way into a declared type: parameters, results of functions, cells, output.

Lossless conversions are silent, as in a union; all others need a CAST.
"""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.ast.types import CollectionType, SimpleType, StructField, StructType, TypeNode
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.coercion import common_type
from ...model.declared import DeclaredType
from ...model.typed import Typed
from .casts import keeps_values
from .literals import text_as_moment
from .typing import Context


def converted(value: Typed, target: DeclaredType, context: Context) -> Typed | None:
    """Return a value converted to a type, None where that needs a CAST."""
    if value.type == target.type:
        return value
    common = common_type(value.type, target.type)
    # The known parts of a type must fit: `array()` is a list of anything.
    fits = common == target.type or (common is not None and not t.is_known(common))
    if not fits and not text_as_moment(value, target.type, context):
        return None
    expression = value.expression
    nullable = value.nullable or not keeps_values(value.type, target.type)
    return Typed(e.Cast(expression.span, expression, target.node), target.type, nullable)


def converted_to(value: Typed, target: t.Type, context: Context) -> Typed | None:
    """Return a value converted to a type that is not the text of a declaration."""
    if not t.is_known(target):
        return value
    return converted(value, DeclaredType(target, written(target, value.expression.span)), context)


def written(type_: t.Type, span: Span) -> TypeNode:
    """Return a type as one would write it."""
    match type_:
        case t.Decimal(precision, scale):
            return SimpleType(span, "DECIMAL", (precision, scale))
        case t.Array(element):
            return CollectionType(span, "ARRAY", (written(element, span),))
        case t.Map(key, value):
            return CollectionType(span, "MAP", (written(key, span), written(value, span)))
        case t.Struct(fields):
            inner = (StructField(span, Name(span, f.name), written(f.type, span)) for f in fields)
            return StructType(span, tuple(inner))
    return SimpleType(span, str(type_))
