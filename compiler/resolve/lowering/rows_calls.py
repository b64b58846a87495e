"""Calls of aggregates over rows that a program keeps, resolved: OVER and COUNT_WINDOW have them."""

from __future__ import annotations

from dataclasses import replace

from ....dsl import codes
from ....dsl.ast import expressions as e
from ....dsl.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.records import dataclass
from ...model import types as t
from ...model.aggregates import aggregate
from ...model.declared import DeclaredCall
from ...model.typed import Typed
from ..calls import aggregate_clause, not_an_aggregate
from ..expressions import Clause, check, check_with_aggregates
from ..not_built import not_built
from ..scope import BlockScope
from .frames import AGGREGATES, RowsCall
from .marks import AnyCall

THERE_ARE = "there are SUM, COUNT, AVG, MIN, MAX, FIRST_VALUE and LAST_VALUE"


@dataclass(frozen=True, slots=True)
class RowsCalls:
    """Resolves calls; ``where`` is what they stand with, as in messages: ``OVER``."""

    scope: BlockScope
    where: str
    diagnostics: Diagnostics

    def resolve(self, node: AnyCall, name: str) -> RowsCall | None:
        """Return an aggregate whose value is called so, None after a report."""
        if isinstance(node, DeclaredCall):
            called = node.call.name
            self.diagnostics.add(not_built(f"`{called}` with {self.where}", node.span, THERE_ARE))
            return None
        known = aggregate(node.name.text, distinct=node.distinct)
        assert known is not None
        if known.name not in AGGREGATES:
            what = f"`{known.name}` with {self.where}"
            self.diagnostics.add(not_built(what, node.span, THERE_ARE))
            return None
        by_order = known.name in ("first_value", "last_value")
        found = self._value(node, name) if by_order else self._aggregate(node, name)
        return None if found is None else replace(found, function=known.name)

    def _aggregate(self, node: e.Call, name: str) -> RowsCall | None:
        """Return SUM, COUNT, AVG, MIN or MAX; a row that FILTER leaves out gives NULL."""
        clause = Clause(self.where, aggregates=True)
        plain = replace(node, over=None)
        value, found = check_with_aggregates(plain, self.scope, clause, self.diagnostics)
        call = value.expression
        if value.type is t.UNKNOWN or not found or not isinstance(call, e.Call):
            return None
        if len(call.arguments) > 1:
            self.diagnostics.add(not_built(f"COUNT of several with {self.where}", node.span))
            return None
        argument = call.arguments[0]
        given: Typed | None = None
        if not isinstance(argument, e.Star):
            given = Typed(argument, found[0].argument_types[0])
        if call.filter is not None:
            counted = given or Typed(e.BooleanLiteral(node.span, True), t.BOOLEAN)
            when = e.When(node.span, call.filter, counted.expression)
            given = Typed(e.Case(node.span, None, (when,), None), counted.type)
        return RowsCall(name, "", given, value.type, value.nullable, node.span)

    def _value(self, node: e.Call, name: str) -> RowsCall | None:
        """Return FIRST_VALUE or LAST_VALUE, whose order is that of the rows."""
        others = replace(node, nulls=None)
        clause = aggregate_clause(others)
        if clause is not None:
            self.diagnostics.add(not_an_aggregate(others, clause))
            return None
        value = self.argument(node)
        flag = node.arguments[1] if len(node.arguments) == 2 else None
        if len(node.arguments) > 2 or (flag and not isinstance(flag, e.BooleanLiteral)):
            form = f"{node.name.text.upper()}(x) IGNORE NULLS"
            self.diagnostics.add(wrong_arguments(node, form, self.where))
            return None
        skips = node.nulls == "IGNORE" or (isinstance(flag, e.BooleanLiteral) and flag.value)
        if value is None:
            return None
        return RowsCall(name, "", value, value.type, value.nullable or skips, node.span, skips)

    def argument(self, node: e.Call) -> Typed | None:
        """Return the first argument of a call that has its value from a row."""
        if not node.arguments:
            form = f"{node.name.text.upper()}(x)"
            self.diagnostics.add(wrong_arguments(node, form, self.where))
            return None
        value = check(node.arguments[0], self.scope, Clause(self.where), self.diagnostics)
        return None if value.type is t.UNKNOWN else value


def wrong_arguments(node: e.Call, form: str, where: str) -> Diagnostic:
    """Return the diagnostic for a call that is not of its form."""
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"`{node.name.text.lower()}` can't be called so with {where}",
        Label(node.span),
        help=f"the form is `{form}{' OVER (…)' if where == 'OVER' else ''}`",
    )
