"""Values on their way into a declared type: parameters of functions, and what they return.

What keeps every value is converted silently, as a union does; all else takes a CAST.
"""

from __future__ import annotations

from ...dsl.ast import expressions as e
from ..model import types as t
from ..model.coercion import common_type
from ..model.declared import DeclaredType
from ..model.typed import Typed
from .casts import keeps_values
from .literals import text_as_moment
from .typing import Context


def converted(value: Typed, target: DeclaredType, context: Context) -> Typed | None:
    """Return a value as one of a type, None where that takes a CAST."""
    if value.type == target.type:
        return value
    fits = t.is_open(value.type) or common_type(value.type, target.type) == target.type
    if not fits and not text_as_moment(value, target.type, context):
        return None
    expression = value.expression
    nullable = value.nullable or not keeps_values(value.type, target.type)
    return Typed(e.Cast(expression.span, expression, target.node), target.type, nullable)
