"""The typing of an expression: the dispatch on node kinds, and its context.

``typed`` turns an expression as written into its resolved form with a type. Its handlers are in
``literals``, ``references``, ``operators``, ``conditions``, ``casts`` and ``calls``. A handler
reports a mistake once and returns UNKNOWN, which nothing above complains about.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import singledispatch
from typing import Protocol

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, InternalError, Label
from ...model import types as t
from ...model.functions import AggregateFunction
from ...model.typed import Typed

CONDITIONS = frozenset({"WHERE", "HAVING", "ON", "QUALIFY", "FILTER"})
"""The clauses whose expression must be true or false."""


class Scope(Protocol):
    """The meaning of column names in an expression."""

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a reference; None after a report."""

    def knows(self, name: str) -> bool:
        """Return whether a bare name has a meaning, unique or not."""

    def event_times(self) -> tuple[Typed, ...]:
        """Return the columns that carry a watermark; for a window, the one that it is over."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause of an expression, and whether aggregates are allowed there."""

    name: str
    aggregates: bool = False


@dataclass(frozen=True, slots=True)
class FoundAggregate:
    """An aggregate inside a resolved expression, with the types of its arguments."""

    call: e.Call
    function: AggregateFunction
    argument_types: tuple[t.Type, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """The context of typing: the scope, visible lambda parameters, the enclosing aggregate."""

    scope: Scope
    clause: Clause
    diagnostics: Diagnostics
    inside: e.Call | None = None
    lambdas: tuple[dict[str, t.Type], ...] = ()
    found: list[FoundAggregate] = field(default_factory=list)

    def report(self, diagnostic: Diagnostic) -> None:
        """Record a mistake."""
        self.diagnostics.add(diagnostic)

    def within(self, call: e.Call) -> Context:
        """Return the context of an aggregate's arguments."""
        return replace(self, inside=call)

    def with_lambda(self, parameters: dict[str, t.Type]) -> Context:
        """Return the context of a lambda's body; parameter names are in lower case."""
        return replace(self, lambdas=(*self.lambdas, parameters))

    def text(self, node: Node) -> str:
        """Return a node as the user wrote it, on one line, truncated if it is long."""
        written = " ".join(self.diagnostics.source.excerpt(node.span).split())
        return written if len(written) <= 40 else f"{written[:38]} …"


@singledispatch
def typed(node: e.Expression, context: Context) -> Typed:
    """Return an expression with its names resolved and its type; mistakes are reported."""
    raise InternalError(f"no typing for {type(node).__name__}")


def unknown(node: e.Expression) -> Typed:
    """Return the result for an expression with a reported mistake."""
    return Typed(node, t.UNKNOWN)


def require_boolean(value: Typed, node: e.Expression, context: Context, where: str) -> None:
    """Report a condition that is not a boolean; ``where`` takes it (``WHERE``, ```AND```)."""
    if value.type != t.BOOLEAN and not t.is_open(value.type):
        context.report(_not_boolean(node, value.type, context, where))


def _not_boolean(node: e.Expression, type_: t.Type, context: Context, where: str) -> Diagnostic:
    written = context.text(node)
    if t.is_numeric(type_):
        fix = f"write a comparison, as in `{written} > 0`"
    elif type_ == t.STRING:
        fix = f"write a comparison, as in `{written} = 'yes'`"
    else:
        fix = f"write a condition, as in `{written} IS NOT NULL`"
    return Diagnostic(
        codes.NOT_BOOLEAN,
        f"{where} takes a condition, but `{written}` is {type_}",
        Label(node.span, str(type_)),
        help=fix,
    )
