"""Resolved expressions: the syntax with its names made exact, and a type.

The expression language is the same in every phase, so a resolved expression is a syntax tree whose
column references name their columns exactly, rather than a second family of node classes.
"""

from __future__ import annotations

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Expression
from .types import Type


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression whose names are resolved. ``type`` is UNKNOWN where it can't be determined."""

    expression: Expression
    type: Type
    nullable: bool = True
