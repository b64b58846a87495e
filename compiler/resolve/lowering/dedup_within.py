"""DISTINCT ON (…) WITHIN: the first row of an id, and no others for some time.

    ON EVENT
      IF ts > coalesce(watermark(), …) AND (kept_at IS NULL OR ts > kept_at + INTERVAL 1 DAY) THEN
        EMIT id, ts, …;
        SET kept_at = ts;
        START TIMER forget AT ts + INTERVAL 1 DAY;
      END IF;
    ON TIMER forget
      CLEAR STATE;

As without WITHIN, the first row is the first to arrive, and is emitted at once. A row that is late,
or has no instant, is dropped: whether its id was seen is no longer known.

Rows of a window, of an ordered program, or without a partner in a join are emitted when the
watermark passes them: all would be late. Ids are forgotten by the watermark of an earlier epoch,
which had not passed these rows, so none is one whose id was forgotten, and no late row is dropped.
"""

from __future__ import annotations

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.programs import Operator, ProgramInput
from ...model.reads import WatermarkCall
from ...model.schema import Field
from ...model.typed import Typed
from ..clauses.columns import Item
from ..clauses.output_time import with_event_time
from ..programs.reads import clocked
from . import builders as parts
from .over_reads import RowReads, keys_of
from .program_items import returns_of


@dataclass(frozen=True, slots=True)
class DistinctWithin:
    """A resolved DISTINCT ON with its interval; ``emitted``: an operator gives its rows."""

    given: ProgramInput
    time: Field
    within: e.Expression
    items: tuple[Item, ...]
    emitted: bool
    span: Span


def within_operator(state_id: str, distinct: DistinctWithin) -> Operator:
    """Return the operator that keeps the first row of each id."""
    given, span = distinct.given, distinct.span
    reads = RowReads(given, distinct.time, span, ())
    reads.choose_names(item.value.expression for item in distinct.items)
    kept_at = reads.cell("kept_at")
    time = reads.time()
    until = e.Binary(span, "+", parts.cell(span, kept_at), distinct.within)
    is_first = e.Binary(
        span,
        "OR",
        parts.is_null(parts.cell(span, kept_at)),
        e.Binary(span, ">", time, until),
    )
    in_time = () if distinct.emitted else (_in_time(span, time),)
    condition = parts.all_of([parts.is_known(time), *in_time, is_first])
    assert condition is not None
    forgotten = e.Binary(span, "+", time, distinct.within)
    kept = (
        m.Emit(tuple(_value(item, reads) for item in distinct.items)),
        m.SetCell(kept_at, Typed(time, t.TIMESTAMP)),
        m.StartTimer(reads.forget, Typed(forgotten, t.TIMESTAMP)),
    )
    step = Operator(
        state_id,
        keys_of(given),
        (given,),
        ordered=False,
        late_rows=None,
        cells=(m.Cell(kept_at, m.CellKind.VALUE, t.TIMESTAMP),),
        timers=(m.Timer(reads.forget, processing=False),),
        returns=returns_of(distinct.items),
        handlers=(
            m.Handler(given.alias, (m.If((m.IfBranch(condition, kept),), ()),)),
            m.Handler(reads.forget, (m.ClearState(),), is_timer=True),
        ),
    )
    return with_event_time(step)


def _in_time(span: Span, time: e.Expression) -> e.Expression:
    """Return the condition that a row is not late; without a watermark none is."""
    watermark = WatermarkCall(span, Name(span, "watermark"), ())
    later = e.Binary(span, ">", time, watermark)
    return e.Binary(span, "OR", parts.is_null(watermark), later)


def _value(item: Item, reads: RowReads) -> Typed:
    value = clocked(item.value)
    return Typed(reads.of_row(value.expression), value.type, value.nullable)
