"""Marks: placeholders in an expression for values that a program computes.

An expression is resolved with a mark in place of each call, whose type is known by then. The
program replaces it by the read of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.declared import DeclaredCall
from ...model.typed import Typed
from ..expressions.typing import Context, typed
from . import builders as parts
from .frames import RowsCall

AnyCall: TypeAlias = e.Call | DeclaredCall


@dataclass(frozen=True, slots=True)
class Mark(e.Expression):
    """The value of a call, by its name, before its read is known."""

    name: str
    type: t.Type
    nullable: bool


@typed.register(Mark)
def _typed_mark(node: Mark, context: Context) -> Typed:
    return Typed(node, node.type, node.nullable)


def placed(expression: e.Expression, values: Mapping[str, e.Expression]) -> e.Expression:
    """Return an expression with marks replaced by the reads of their values."""

    def place(node: Node) -> Node | None:
        return values[node.name] if isinstance(node, Mark) else None

    return rewrite(expression, place)


class Marks:
    """Puts marks into the expressions of a SELECT.

    ``find`` returns the calls in an expression, ``resolve`` a call resolved under the name of its
    value, None after a report. ``taken`` are names in lower case that a value can't have.
    """

    def __init__(
        self,
        find: Callable[[Node], Iterable[AnyCall]],
        resolve: Callable[[AnyCall, str], RowsCall | None],
        taken: set[str],
        diagnostics: Diagnostics,
    ) -> None:
        self._find = find
        self._resolve = resolve
        self._taken = taken
        self._diagnostics = diagnostics
        self._marks: dict[AnyCall, Mark] = {}

    def put(self, expression: e.Expression, name: str, *, known: bool = False) -> e.Expression:
        """Return an expression with a mark for each call; their values begin with ``name``.

        ``known``: a call that occurs in an earlier expression is the same value.
        """
        calls = list(dict.fromkeys(self._find(expression)))
        marks = {call: self._marks[call] for call in calls if known and call in self._marks}
        first: dict[str, AnyCall] = {}
        for call in calls:
            if call in marks:
                continue
            short = function_of(call)
            if first.setdefault(short, call) is not call:
                self._diagnostics.add(_same_name(call, first[short], short))
            own = parts.free_name(name if len(calls) == 1 else f"{name}__{short}", self._taken)
            self._taken.add(own.lower())
            found = self._resolve(call, own)
            type_, nullable = (found.type, found.nullable) if found else (t.UNKNOWN, True)
            marks[call] = Mark(call.span, own, type_, nullable)
        self._marks.update(marks)
        return rewrite(expression, lambda node: _in_place_of(node, marks))


def function_of(call: AnyCall) -> str:
    """Return the name of the called function, in lower case."""
    inner = call.call if isinstance(call, DeclaredCall) else call
    return inner.name.text.lower()


def _in_place_of(node: Node, marks: Mapping[AnyCall, Mark]) -> Node | None:
    if isinstance(node, e.Lambda):
        return node
    return marks[node] if isinstance(node, e.Call | DeclaredCall) and node in marks else None


def _same_name(node: AnyCall, first: AnyCall, short: str) -> Diagnostic:
    return Diagnostic(
        codes.SHARED_NAME,
        f"two `{short}` in one expression would have the same name",
        Label(node.span, "the second"),
        secondary=(Label(first.span, "the first"),),
        help="give each its own column, and combine these in a later stream: state is identified "
        "by that name",
    )
