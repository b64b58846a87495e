"""Calls with OVER: their resolution, the names of their state, and their placeholders.

An expression is resolved with a mark in place of each call, whose type is known by then. The
program replaces it by the read of the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Node
from ....dsl.ast.walk import children
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, InternalError, Label
from ...model import types as t
from ...model.coercion import can_cast
from ...model.declared import DeclaredCall
from ...model.functions import aggregate, function
from ...model.typed import Typed
from ..expressions.call_diagnostics import not_an_aggregate
from ..expressions.calls import aggregate_clause
from ..expressions.conversions import converted_to
from ..expressions.resolve import Clause, check
from ..expressions.typing import Context
from ..scopes.scope import BlockScope
from . import builders as parts
from .frames import APPROXIMATE, RowsCall
from .over_windows import EVERYTHING, Frame, OverWindow, OverWindows
from .placeholders import AnyCall, Marks, function_of
from .program_items import has_type, no_type
from .rows_calls import RowsCalls, wrong_arguments

_OVER = Clause("OVER")
_COUNTS_ALL = frozenset({"cume_dist", "ntile", "percent_rank"})
"""Functions that depend on the number of all rows."""

NUMBERS = frozenset({"row_number", "rank", "dense_rank"})
"""Functions that number rows."""


@dataclass(frozen=True, slots=True)
class OverCall:
    """A call of OVER resolved.

    ``rows`` is the aggregate over the rows of ``frame``. LAG and ROW_NUMBER have no frame, that of
    RANK is all rows; LAG is the value of ``rows`` from ``distance`` rows back, or its default.
    """

    function: str
    rows: RowsCall
    frame: Frame | None = None
    distance: int = 0
    default: Typed | None = None

    @property
    def name(self) -> str:
        """The name of the value."""
        return self.rows.name

    @property
    def sees_peers(self) -> bool:
        """Whether its value needs all rows of the instant."""
        return self.frame is not None and self.frame.by_time

    @property
    def is_bounded(self) -> bool:
        """Whether the watermark alone decides when its state is no longer needed."""
        return self.frame is not None and self.frame.length is not None


def _is_aggregate(node: e.Call) -> bool:
    name = node.name.text
    return aggregate(name, distinct=node.distinct) is not None or name.lower() == "nth_value"


def over_of(node: Node) -> e.WindowSpec | None:
    """Return the window of a call with OVER, None for all other nodes."""
    call = node.call if isinstance(node, DeclaredCall) else node
    return call.over if isinstance(call, e.Call) else None


def calls_of(node: Node) -> Iterator[AnyCall]:
    """Yield the calls with OVER in an expression, except those inside another or a lambda."""
    if over_of(node) is not None:
        assert isinstance(node, e.Call | DeclaredCall)
        yield node
    elif not isinstance(node, e.Lambda):
        for child in children(node):
            yield from calls_of(child)


class OverCalls:
    """The calls of one SELECT, and expressions with marks in place of them.

    ``taken`` are names in lower case that a value can't have.
    """

    def __init__(
        self, select: q.Select, scope: BlockScope, taken: set[str], diagnostics: Diagnostics
    ) -> None:
        self.found: list[OverCall] = []
        self.windows: list[OverWindow] = []
        self._named = OverWindows(select, scope, diagnostics)
        self._scope = scope
        self._diagnostics = diagnostics
        self._rows = RowsCalls(scope, "OVER", diagnostics)
        self._marks = Marks(calls_of, self._resolved, taken, diagnostics)

    def finish(self) -> None:
        """Report the windows that no call names."""
        self._named.unused()

    def marked(self, expression: e.Expression, name: str, *, known: bool = False) -> e.Expression:
        """Return an expression with a mark for each call; their values begin with ``name``.

        ``known``: a call that occurs in an earlier expression is the same value.
        """
        return self._marks.put(expression, name, known=known)

    def _resolved(self, node: AnyCall, name: str) -> RowsCall | None:
        over = over_of(node)
        assert over is not None
        window = self._named.resolve(over)
        found = self._call(node, name, window)
        if found is None or window is None:
            return None
        if not has_type(Typed(node, found.rows.type)):
            self._diagnostics.add(no_type(node))
            return None
        self.windows.append(window)
        self.found.append(found)
        return found.rows

    def _call(self, node: AnyCall, name: str, window: OverWindow | None) -> OverCall | None:
        if isinstance(node, DeclaredCall) or _is_aggregate(node):
            frame = window.frame if window is not None else EVERYTHING
            rows = self._rows.resolve(node, name)
            if rows is not None and frame.is_running and rows.function in APPROXIMATE:
                self._diagnostics.add(_approximate(node))
                return None
            return None if rows is None else OverCall(rows.function, rows, frame)
        if node.name.text.lower() not in ("lag", *NUMBERS):
            self._refuse(node)
            return None
        if window is not None and window.stated is not None:
            self._diagnostics.add(_no_frame(node, window.stated))
            return None
        clause = aggregate_clause(node)
        if clause is not None:
            self._diagnostics.add(not_an_aggregate(node, clause))
            return None
        is_lag = node.name.text.lower() == "lag"
        return self._lag(node, name) if is_lag else self._number(node, name)

    def _lag(self, node: e.Call, name: str) -> OverCall | None:
        value = self._rows.argument(node)
        distance = node.arguments[1] if len(node.arguments) > 1 else None
        is_number = isinstance(distance, e.NumberLiteral) and distance.text.isdigit()
        if len(node.arguments) > 3 or (distance is not None and not is_number):
            self._diagnostics.add(wrong_arguments(node, "LAG(x, 1, 0)", "OVER"))
            return None
        back = int(distance.text) if isinstance(distance, e.NumberLiteral) else 1
        if back == 0:
            self._diagnostics.add(wrong_arguments(node, "LAG(x, 1)", "OVER"))
            return None
        default = self._default(node, value) if len(node.arguments) > 2 and value else None
        if value is None or (default is None and len(node.arguments) > 2):
            return None
        nullable = value.nullable or default is None or default.nullable
        rows = RowsCall(name, "lag", value, value.type, nullable, node.span)
        return OverCall("lag", rows, None, back, default)

    def _default(self, node: e.Call, value: Typed) -> Typed | None:
        written = node.arguments[2]
        given = check(written, self._scope, _OVER, self._diagnostics)
        context = Context(self._scope, _OVER, self._diagnostics)
        found = converted_to(given, value.type, context)
        is_number = isinstance(written, e.NumberLiteral) and t.is_numeric(value.type)
        if found is None and is_number:
            return Typed(parts.cast(given.expression, value.type), value.type, nullable=False)
        if found is None:
            self._diagnostics.add(_default_type(written, given.type, value.type, context))
        return found

    def _number(self, node: e.Call, name: str) -> OverCall | None:
        if node.arguments:
            self._diagnostics.add(wrong_arguments(node, f"{node.name.text.upper()}()", "OVER"))
            return None
        function = node.name.text.lower()
        rows = RowsCall(name, function, None, t.INT, nullable=False, span=node.span)
        # Rows of one instant share a rank, which is known when all of them have arrived.
        return OverCall(function, rows, None if function == "row_number" else EVERYTHING)

    def _refuse(self, node: e.Call) -> None:
        """Report a function that OVER does not support."""
        name = node.name.text.lower()
        known = function(name)
        if known is None:
            # No such function: reported as elsewhere.
            check(replace(node, over=None), self._scope, _OVER, self._diagnostics)
        elif known.group != "window":
            self._diagnostics.add(_no_aggregate(node))
        elif name == "lead":
            self._diagnostics.add(_lead(node))
        elif name in _COUNTS_ALL:
            self._diagnostics.add(_counts_all(node))
        else:
            raise InternalError(f"OVER has no {name}")


def _no_frame(node: e.Call, frame: e.Frame) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        f"{node.name.text.upper()} counts rows, so it takes no frame",
        Label(frame.span),
        help="remove the frame",
    )


def _default_type(
    node: e.Expression, given: t.Type, wanted: t.Type, context: Context
) -> Diagnostic:
    text = context.text(node)
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"LAG returns {wanted}, but its default `{text}` is {given}",
        Label(node.span, str(given)),
        help=f"write `CAST({text} AS {wanted})`"
        if can_cast(given, wanted)
        else f"give it a value of type {wanted}",
    )


def _no_aggregate(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"`{node.name.text.lower()}` is not an aggregate, so it takes no OVER",
        Label(node.span),
        help=f"remove OVER, or aggregate it: `MAX({node.name.text.lower()}(…)) OVER (…)`",
    )


def _approximate(node: AnyCall) -> Diagnostic:
    counts = function_of(node) == "approx_count_distinct"
    exact = "COUNT(DISTINCT x)" if counts else "PERCENTILE(x, 0.5)"
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"`{function_of(node)}` would keep all values of a key forever: its frame is unbounded",
        Label(node.span),
        help="bound the frame, as in `RANGE INTERVAL 1 DAY PRECEDING`; to keep all values, write "
        f"{exact}, which is exact",
    )


def _lead(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FUNCTION,
        "LEAD would wait for rows that may never arrive",
        Label(node.span),
        help="compute it on the later row, which sees the earlier one with LAG",
    )


def _counts_all(node: e.Call) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FUNCTION,
        (
            f"`{node.name.text.lower()}` depends on the number of all rows, but a stream has no "
            "last one"
        ),
        Label(node.span),
        help="aggregate over windows, as in `FROM TUMBLE(t, ts, INTERVAL 1 HOUR)`",
    )
