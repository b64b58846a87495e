"""Calls of functions that the spec declares, found before anything is resolved.

These decide what a SELECT is (an aggregate makes it a grouping), so each call becomes a node of its
own first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model.declared import DeclaredCall, DeclaredFunction
from ...model.functions import aggregate, aggregate_names, function, function_names
from ..foreign.functions import OTHER_WAYS

N = TypeVar("N", bound=Node)


class Functions:
    """The functions of a spec by name, None for those with errors, and which of them are called."""

    def __init__(self, known: Mapping[str, DeclaredFunction | None]) -> None:
        self.known = dict(known)
        self.called: set[str] = set()

    def bind(self, node: N, diagnostics: Diagnostics) -> N:
        """Return a tree in which each call of a declared function is a DeclaredCall.

        The window of OVER is left unchanged.
        """
        if not self.known:
            return node

        def change(found: Node) -> Node | None:
            return self._bound(found, change, diagnostics) if isinstance(found, e.Call) else None

        return rewrite(node, change)

    def _bound(
        self, node: e.Call, change: Callable[[Node], Node | None], diagnostics: Diagnostics
    ) -> e.Expression:
        call = replace(
            node,
            arguments=tuple(rewrite(argument, change) for argument in node.arguments),
            order_by=tuple(rewrite(item, change) for item in node.order_by),
            filter=None if node.filter is None else rewrite(node.filter, change),
        )
        name = node.name.text.lower()
        if name in self.known:
            self.called.add(name)
            return DeclaredCall(node.span, call, self.known[name])
        near = self._nearest(name)
        if near is None:
            return call
        diagnostics.add(_unknown(node, near))
        return DeclaredCall(node.span, call, None)

    def _nearest(self, name: str) -> str | None:
        """Return the declared function meant by an unknown name."""
        if function(name) is not None or aggregate(name) is not None or name in OTHER_WAYS:
            return None
        near = closest(name, (*self.known, *function_names(), *aggregate_names()))
        return near[0] if near and near[0] in self.known else None


def _unknown(node: e.Call, near: str) -> Diagnostic:
    return Diagnostic(
        codes.UNKNOWN_FUNCTION,
        f"there is no function `{node.name.text.lower()}`",
        Label(node.name.span),
        help=f"did you mean `{near}`?",
    )
