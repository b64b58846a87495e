"""DISTINCT ON: the first row of an id; with WITHIN a program remembers ids for longer."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types as t
from ...model.programs import ProgramInput
from ...model.schema import Field, Schema
from ...model.steps import Deduplicate, Key
from ..clauses.lost_times import time_help
from ..declarations.durations import duration
from ..expressions.resolve import Clause, check
from ..lowering.dedup_within import DistinctWithin, within_operator
from ..lowering.program_items import program_items
from ..scopes.fields import ambiguous_key, taken_name
from ..scopes.relation_builder import Chain
from ..scopes.scope import BlockScope, Visible
from .from_clause import From


class Distinct:
    """The DISTINCT ON of a block, over the rows of its chain."""

    def __init__(
        self, select: q.Select, node: q.DistinctOn, source: From, scope: BlockScope, chain: Chain
    ) -> None:
        self._select = select
        self._node = node
        self._source = source
        self._scope = scope
        self._chain = chain
        self._diagnostics = chain.context.diagnostics

    def of_rows(self, state_id: str) -> None:
        """Append the step that drops the rows of known ids."""
        keys, time = self._keys(), self._time()
        if self._source.joins:
            self._diagnostics.add(distinct_over(self._node, "a join"))
        if time is not None and time.watermark is not None:
            self._chain.add(Deduplicate(id=state_id, keys=keys, within=time.watermark))

    def within(self, interval: e.Expression, state_id: str) -> None:
        """Append the program that emits the select list for the first row of an id."""
        diagnostics = self._diagnostics
        before = diagnostics.errors
        keys, time = self._keys(), self._time()
        duration(interval, "the interval of WITHIN", diagnostics)
        for beside, is_there in (
            ("a join", self._source.joins),
            ("a window of FROM", self._scope.window is not None),
        ):
            if is_there:
                diagnostics.add(distinct_over(self._node, beside))
                return
        if time is not None and time.type != t.TIMESTAMP:
            diagnostics.add(_no_instant(self._node, time))
        groupable = [key for key in keys if t.is_groupable(key.value.type)]
        if len(groupable) < len(keys):
            diagnostics.add(_no_key(self._node))
        where = "a SELECT with DISTINCT ON … WITHIN"
        items = program_items(self._select.items, self._scope, where, diagnostics, before)
        if time is None or diagnostics.errors > before:
            return
        rows = self._source.inputs[0].visible
        values = tuple(key.value for key in keys)
        given = ProgramInput(self._chain.inputs[0], rows.alias, rows.schema, values, time.name)
        span = self._select.span
        emitted = self._chain.above_state
        distinct = DistinctWithin(given, time, interval, items, emitted, span)
        step = within_operator(state_id, distinct)
        self._chain.add(step, step.returns)

    def _keys(self) -> tuple[Key, ...]:
        found: dict[str, Key] = {}
        for node in self._node.keys:
            value = check(node, self._scope, Clause("DISTINCT ON"), self._diagnostics)
            if not isinstance(value.expression, e.ColumnRef):
                self._diagnostics.add(_key_is_computed(node))
                continue
            # Spark drops rows by whole columns.
            whole = self._scope.field(value.expression) is not None
            if self._node.within is None and value.type is not t.UNKNOWN and not whole:
                self._diagnostics.add(_key_is_computed(node))
                continue
            rows = self._source.inputs[0].visible
            others = [key.value.expression for key in found.values()]
            taken = taken_name(value.expression, rows.schema, others)
            if taken is not None:
                self._diagnostics.add(ambiguous_key(node, value.expression, taken, rows.alias))
                continue
            name = value.expression.parts[-1].text
            found.setdefault(name, Key(name, value))
        return tuple(found.values())

    def _time(self) -> Field | None:
        """Return the event time that decides when ids are forgotten."""
        fields = tuple(f for i in self._source.inputs for f in i.visible.schema)
        times = Schema(fields).event_times()
        if not times:
            self._diagnostics.add(_no_event_time(self._node, self._source.inputs[0].visible))
        return times[0] if times else None


def distinct_over(node: q.DistinctOn, what: str) -> Diagnostic:
    """Return the diagnostic for DISTINCT ON combined with another clause."""
    return Diagnostic(
        codes.DISTINCT_ON_FORM,
        f"DISTINCT ON can't stand in one SELECT with {what}",
        Label(node.span),
        help="deduplicate in a stream of its own",
    )


def plain_distinct(select: q.Select) -> Diagnostic:
    """Return the diagnostic for SELECT DISTINCT."""
    return Diagnostic(
        codes.DISTINCT_ON_FORM,
        "SELECT DISTINCT would keep every row it has ever seen",
        Label(select.span),
        help="write `SELECT DISTINCT ON (id) …`: an id is forgotten after the watermark's delay",
    )


def _key_is_computed(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.DISTINCT_ON_FORM,
        "DISTINCT ON takes columns",
        Label(node.span),
        help="compute it under a name first: `FROM (SELECT …, expression AS id FROM t) AS named`",
    )


def _no_key(node: q.DistinctOn) -> Diagnostic:
    return Diagnostic(
        codes.DISTINCT_ON_FORM,
        "an id is a value that can be compared",
        Label(node.span),
        help="use one of its parts, or `to_json(x)`, in an earlier stream",
    )


def _no_instant(node: q.DistinctOn, time: Field) -> Diagnostic:
    return Diagnostic(
        codes.DISTINCT_ON_FORM,
        f"WITHIN goes by instants, and `{time.name}` is {time.type}",
        Label(node.span),
        help="declare the event time as TIMESTAMP",
    )


def _no_event_time(node: q.DistinctOn, visible: Visible) -> Diagnostic:
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"DISTINCT ON needs an event time, and `{visible.alias}` has none",
        Label(node.span, "its ids would never be forgotten"),
        secondary=(Label(visible.span, f"`{visible.alias}` is declared here"),),
        help=time_help(visible.schema),
    )
