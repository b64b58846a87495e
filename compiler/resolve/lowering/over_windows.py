"""The window of OVER: the keys, the order, which is by event time, and the frame.

    OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW)
    OVER w … WINDOW w AS (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING)
    OVER (w ROWS 5 PRECEDING)

Rows are handled once the watermark has passed them, so a frame ends at the current row: with RANGE
at the last row of its instant.
"""

from __future__ import annotations

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.schema import Field
from ...model.typed import Typed
from ..clauses.lost_times import time_help
from ..clauses.named_windows import NamedWindows
from ..declarations.durations import duration
from ..expressions.resolve import Clause, check
from ..scopes.fields import ambiguous_key, taken_name
from ..scopes.scope import BlockScope, Visible

FORM = (
    "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW)"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows that a call sees, up to its own.

    ``by_time`` is RANGE: the row sees all rows of its instant, and ``length`` is how far it looks
    back; else ``rows`` is how many rows before its own it sees. If both are None it sees all.
    ``window`` is the name of the WINDOW with the frame.
    """

    by_time: bool
    length: e.Interval | None = None
    micros: int = 0
    rows: int | None = None
    window: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it begins with the very first row."""
        return self.length is None and self.rows is None


EVERYTHING = Frame(by_time=True)
"""The default frame of an OVER with an order, as in SQL."""


@dataclass(frozen=True, slots=True)
class OverWindow:
    """A resolved OVER. ``stated`` is the frame written in OVER itself."""

    keys: tuple[Typed, ...]
    time: Field
    frame: Frame
    stated: e.Frame | None
    span: Span


class OverWindows:
    """Resolves the windows of one SELECT; a mistake in one is reported once."""

    def __init__(self, select: q.Select, scope: BlockScope, diagnostics: Diagnostics) -> None:
        self._scope = scope
        self._diagnostics = diagnostics
        self._named = NamedWindows(select, diagnostics)
        self._resolved: dict[e.WindowSpec, OverWindow | None] = {}

    def resolve(self, spec: e.WindowSpec) -> OverWindow | None:
        """Return a resolved OVER, None after a report."""
        if spec not in self._resolved:
            self._resolved[spec] = self._window(spec)
        return self._resolved[spec]

    def unused(self) -> None:
        """Report the windows that no OVER names."""
        self._named.unused()

    def _window(self, spec: e.WindowSpec) -> OverWindow | None:
        whole = self._named.whole(spec)
        if whole is None:
            return None
        keys: list[Typed | None] = []
        for node in whole.partition_by:
            keys.append(self._key(node, [key.expression for key in keys if key is not None]))
        time = self._time(whole)
        name = spec.name.text if spec.name is not None and spec.frame is None else None
        frame = EVERYTHING if whole.frame is None else self._frame(whole.frame, name)
        known = [key for key in keys if key is not None]
        if len(known) < len(keys) or time is None or frame is None:
            return None
        return OverWindow(tuple(known), time, frame, spec.frame, spec.span)

    def _key(self, node: e.Expression, others: list[e.Expression]) -> Typed | None:
        value = check(node, self._scope, Clause("PARTITION BY"), self._diagnostics)
        if value.type is t.UNKNOWN:
            return None
        if not isinstance(value.expression, e.ColumnRef) or not t.is_groupable(value.type):
            self._diagnostics.add(_no_key(node, value))
            return None
        rows = self._scope.relations[0]
        taken = taken_name(value.expression, rows.schema, others)
        if taken is not None:
            self._diagnostics.add(ambiguous_key(node, value.expression, taken, rows.alias))
            return None
        return value

    def _time(self, whole: e.WindowSpec) -> Field | None:
        visible = self._scope.relations[0]
        times = visible.schema.event_times()
        if not times:
            self._diagnostics.add(_no_event_time(whole.span, visible))
            return None
        items = whole.order_by
        found = None
        if items:
            value = check(items[0].expression, self._scope, Clause("ORDER BY"), self._diagnostics)
            if value.type is t.UNKNOWN:
                return None
            found = self._scope.field(value.expression)
        if len(items) != 1 or items[0].descending or found not in times:
            self._diagnostics.add(_no_order(whole, times[0].name))
            return None
        assert found is not None
        if found.type != t.TIMESTAMP:
            self._diagnostics.add(_no_instant(items[0], found))
            return None
        return found

    def _frame(self, node: e.Frame, window: str | None) -> Frame | None:
        by_time = node.unit == "RANGE"
        if node.end.kind != "CURRENT ROW" or node.start.kind not in (
            *("UNBOUNDED PRECEDING", "PRECEDING"),
            "CURRENT ROW",
        ):
            self._diagnostics.add(_frame_end(node))
            return None
        if node.start.kind == "UNBOUNDED PRECEDING":
            return Frame(by_time, window=window)
        offset = node.start.offset
        if not by_time:
            rows = 0 if offset is None else _whole_number(offset)
            if rows is None:
                self._diagnostics.add(_no_rows(node.start))
                return None
            return Frame(by_time, rows=rows, window=window)
        if offset is None:
            offset = e.Interval(node.start.span, (e.IntervalPart(node.start.span, "0", "SECOND"),))
        length = duration(offset, "a frame", self._diagnostics, zero=True)
        if length is None:
            return None
        assert isinstance(offset, e.Interval)
        return Frame(by_time, length=offset, micros=length.micros, window=window)


def _whole_number(node: e.Expression) -> int | None:
    if isinstance(node, e.NumberLiteral) and node.text.isdigit():
        return int(node.text)
    return None


def _no_key(node: e.Expression, value: Typed) -> Diagnostic:
    is_column = isinstance(value.expression, e.ColumnRef)
    return Diagnostic(
        codes.OVER_FORM,
        f"rows can't be partitioned by a {value.type}"
        if is_column
        else "PARTITION BY of OVER takes columns",
        Label(node.span, "not comparable" if is_column else "its state would have no name"),
        help="use one of its parts, or `to_json(x)`, in an earlier stream"
        if is_column
        else "compute it under a name first: `FROM (SELECT *, expression AS k FROM t) AS named`",
    )


def _no_event_time(span: Span, visible: Visible) -> Diagnostic:
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"OVER uses the event time, but `{visible.alias}` has none",
        Label(span, "rows would wait forever"),
        secondary=(Label(visible.span, f"`{visible.alias}` is declared here"),),
        help=time_help(visible.schema),
    )


def _no_order(whole: e.WindowSpec, time: str) -> Diagnostic:
    span = whole.span
    if whole.order_by:
        span = whole.order_by[0].span.to(whole.order_by[-1].span)
    return Diagnostic(
        codes.OVER_FORM,
        f"OVER orders only by the event time, ascending: `ORDER BY {time}`",
        Label(span),
        help=_latest(whole, time)
        or f"write `ORDER BY {time}`: rows of the same instant are in a fixed order of their "
        "values; to keep the top rows of each closed window, use QUALIFY ROW_NUMBER() with "
        "`window_start` in PARTITION BY",
    )


def _latest(whole: e.WindowSpec, time: str) -> str | None:
    """Return help about ``ORDER BY ts DESC``, which asks for the latest rows of each key."""
    if len(whole.order_by) != 1:
        return None
    (item,) = whole.order_by
    by_time = isinstance(item.expression, e.ColumnRef) and item.expression.parts[-1].text == time
    if not (item.descending and by_time):
        return None
    keys = [part.parts[-1].text for part in whole.partition_by if isinstance(part, e.ColumnRef)]
    key = ", ".join(keys) or "id"
    return (
        "the latest row of a key is not known until all have arrived. An upsert sink keeps it "
        f"without QUALIFY:\n`mode = 'upsert', key = '{key}'`. Of each window it is "
        f"`MAX_BY(column, {time}) … GROUP BY {key}, window_start`;\nthe row before is "
        f"`LAG(column) OVER (PARTITION BY {key} ORDER BY {time})`"
    )


def _no_instant(item: e.SortItem, time: Field) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        f"OVER orders by instants, but `{time.name}` is {time.type}",
        Label(item.span, str(time.type)),
        help="declare the event time as TIMESTAMP",
    )


def _frame_end(node: e.Frame) -> Diagnostic:
    later = "FOLLOWING" in node.start.kind or "FOLLOWING" in node.end.kind
    return Diagnostic(
        codes.OVER_FORM,
        "a frame ends at the current row" if not later else "a frame has no later rows",
        Label(node.span),
        help=f"write `{node.unit} BETWEEN … PRECEDING AND CURRENT ROW`"
        + ("" if not later else "; to see later rows, compute on the later row with LAG"),
    )


def _no_rows(start: e.FrameBound) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        "ROWS takes a number of rows",
        Label(start.span),
        help="write `ROWS BETWEEN 5 PRECEDING AND CURRENT ROW`, or RANGE for a duration",
    )
