"""Expressions: names resolved, types inferred, mistakes reported once (the parts: ``typing``)."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.reports.diagnostics import Diagnostics
from ...model.typed import Typed
from . import calls, casts, conditions, declared_calls, literals, operators, references
from .typing import CONDITIONS, Clause, Context, FoundAggregate, Scope, require_boolean, typed

__all__ = ["Clause", "FoundAggregate", "Scope", "check", "check_with_aggregates"]

HANDLERS = (calls, casts, conditions, declared_calls, literals, operators, references)
"""The modules that register a handler with ``typed``."""


def check(
    expression: e.Expression, scope: Scope, clause: Clause, diagnostics: Diagnostics
) -> Typed:
    """Return an expression with exact names and its type, UNKNOWN once a mistake is reported.

    In the clauses that filter (WHERE, HAVING, ON, QUALIFY, FILTER) it must be a condition.
    """
    return check_with_aggregates(expression, scope, clause, diagnostics)[0]


def check_with_aggregates(
    expression: e.Expression, scope: Scope, clause: Clause, diagnostics: Diagnostics
) -> tuple[Typed, tuple[FoundAggregate, ...]]:
    """Check an expression, and also return the aggregates in it from left to right."""
    context = Context(scope, clause, diagnostics)
    value = typed(expression, context)
    if clause.name in CONDITIONS:
        require_boolean(value, expression, context, clause.name)
    return value, tuple(context.found)
