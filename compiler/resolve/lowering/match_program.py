"""The program of a pattern: attempts at a match, which each row advances or ends.

``runs`` holds the attempts of a key that may still become a match, ordered by their first row, and
then by preference. A row is tried with each of them and with a new one:

    on event t    declare tried = array_append(runs, <a fresh one>), decided = FALSE
                  clear runs
                  for run in tried
                    if not decided and run.at in ('a', 'b') and <the condition of B>
                      set runs = array_append(runs, <run, with the row, at 'b'>)
                    …

An attempt that has matched is at ``$``. It ends the search after it (``decided``): SKIP PAST LAST
ROW leaves no other attempt for the rows of a match, SKIP TO NEXT ROW those that began with other
rows. It is emitted once no preferred attempt is open. With SKIP TO a variable, emitting it drops
those that began before the row to resume at: until then another may be emitted instead, and leave
them. Attempts that began WITHIN ago are dropped by a timer, after the rows of that instant.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.reports.source import Span
from ...model import programs as m
from ...model import types as t
from ...model.conditions import conjuncts
from ...model.schema import Duration, Field, Schema
from ...model.typed import Typed
from ..scopes.relation_builder import Known
from . import builders as parts
from .builders import call, local, number, struct, text
from .match_fields import Memory, Remembered
from .match_pattern import Automaton, Follow, Place
from .match_rows import MatchRows

FRESH = "^"
MATCHED = "$"


@dataclass(frozen=True, slots=True)
class MatchNames:
    """The names of the cell, timer and locals."""

    runs: str
    within: str
    run: str
    tried: str
    found: str
    decided: str
    seen: str
    open: str
    resume: str
    row: str
    number: str

    @classmethod
    def beside(cls, taken: set[str]) -> MatchNames:
        """Return names that are not among others, in lower case."""
        own = "runs within run tried found decided seen open resume row match_number".split()
        return cls(*(parts.free_name(name, taken) for name in own))

    def all(self) -> frozenset[str]:
        """Return all of them."""
        return frozenset(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class MatchProgram:
    """A resolved pattern, and its conversion to a program.

    ``apart`` says that rows of one match may begin others (SKIP TO NEXT ROW), starting at
    ``resume`` if given: the number of rows of the match before the one to resume at. ``merged`` are
    the places where one of two equal attempts is enough.
    """

    span: Span
    known: Known
    alias: str
    time: str
    keys: tuple[Field, ...]
    automaton: Automaton
    conditions: dict[str, Typed]
    rows: MatchRows
    memory: Memory
    names: MatchNames
    within: Duration | None
    apart: bool
    resume: Remembered | None
    merged: frozenset[str]

    @property
    def schema(self) -> Schema:
        """The columns of its rows: keys, measures, and with ALL ROWS the others."""
        keys = (Field(field.name, field.type, field.nullable) for field in self.keys)
        return Schema((*keys, *self.rows.schema))

    def operator(self, state_id: str) -> m.Operator:
        """Return the program."""
        names = self.names
        keys = tuple(
            Typed(parts.column(self.span, self.alias, field.name, ()), field.type, field.nullable)
            for field in self.keys
        )
        handlers = [m.Handler(self.alias, (*self._tried(), *self._given()))]
        if self.within is not None:
            body = (self._in_time(), *self._given())
            handlers.append(m.Handler(names.within, body, is_timer=True))
        return m.Operator(
            state_id,
            tuple(m.ProgramKey(field.name, field.type) for field in self.keys),
            (m.ProgramInput(self.known.relation, self.alias, self.known.schema, keys, self.time),),
            ordered=True,
            late_rows=None,
            cells=(
                m.Cell(names.runs, m.CellKind.VALUE, self._runs_type, self._no_runs()),
                *self.rows.cells(names.number),
            ),
            timers=() if self.within is None else (m.Timer(names.within, processing=False),),
            returns=self.schema,
            handlers=tuple(handlers),
        )

    # Attempts.

    @property
    def _counts(self) -> bool:
        """Whether attempts that began with the same row must be recognisable."""
        return self.apart or bool(self.merged)

    @property
    def _seen_type(self) -> t.Struct:
        fields = self.memory.in_order()
        return t.Struct(tuple(t.Field(one.name, one.type) for one in fields))

    @property
    def _run_type(self) -> t.Struct:
        fields = [t.Field("at", t.STRING)]
        fields += [t.Field("began", t.TIMESTAMP)] if self.within is not None else []
        fields += [t.Field("rows", t.BIGINT)] if self._counts else []
        fields += [t.Field("seen", self._seen_type)] if self.memory.fields else []
        fields += [t.Field("kept", self.rows.kept)] if self.rows.kept is not None else []
        return t.Struct(tuple(fields))

    @property
    def _runs_type(self) -> t.Array:
        return t.Array(self._run_type)

    @property
    def _runs(self) -> e.Expression:
        return parts.cell(self.span, self.names.runs)

    def _run(self, *path: str) -> e.Expression:
        return local(self.span, self.names.run, *path)

    def _attempt(
        self,
        at: str,
        began: e.Expression,
        rows: e.Expression,
        seen: e.Expression,
        kept: e.Expression,
    ) -> Typed:
        values = {
            **{"at": text(self.span, at), "began": began},
            **{"rows": rows, "seen": seen, "kept": kept},
        }
        return struct(
            self.span,
            (
                (field.name, Typed(values[field.name], field.type))
                for field in self._run_type.fields
            ),
        )

    def _fresh(self) -> Typed:
        seen = struct(
            self.span,
            ((one.name, Typed(one.initial, one.type)) for one in self.memory.in_order()),
        )
        zero = parts.cast(number(self.span, 0), t.BIGINT)
        nothing: e.Expression = call(self.span, "array")
        nothing = nothing if self.rows.kept is None else parts.cast(nothing, self.rows.kept)
        return self._attempt(FRESH, self._column(self.time), zero, seen.expression, nothing)

    def _moved(self, at: str, seen: e.Expression, kept: e.Expression) -> e.Expression:
        """Return the attempt one row later."""
        more = e.Binary(self.span, "+", self._run("rows"), number(self.span, 1))
        return self._attempt(at, self._run("began"), more, seen, kept).expression

    def _column(self, name: str) -> e.Expression:
        return parts.column(self.span, self.alias, name, self.names.all())

    def _no_runs(self) -> Typed:
        empty = parts.cast(call(self.span, "array"), self._runs_type)
        return Typed(empty, self._runs_type, nullable=False)

    def _kept(self, attempt: e.Expression) -> m.ProgramStatement:
        more = call(self.span, "array_append", self._runs, attempt)
        return m.SetCell(self.names.runs, Typed(more, self._runs_type))

    # A row.

    def _tried(self) -> tuple[m.ProgramStatement, ...]:
        """Return the statements that try a row with all attempts."""
        names = self.names
        tried = call(self.span, "array_append", self._runs, self._fresh().expression)
        body = [self._waits(), *(self._step(*step) for step in _merged_order(self.automaton))]
        each = Typed(local(self.span, names.tried), self._runs_type)
        return (
            m.Declare(names.tried, Typed(tried, self._runs_type)),
            m.Declare(names.decided, self._undecided(names.decided)),
            m.Clear(names.runs),
            m.For(names.run, self._run_type, each, tuple(body)),
        )

    def _by_beginning(self, name: str) -> bool:
        """Return whether a local is about the attempts that began with one row."""
        in_order = self.resume is not None or self.rows.counts
        return self.apart and (name != self.names.open or not in_order)

    def _undecided(self, name: str) -> Typed:
        """Return the condition that no attempt has matched, or none with this beginning."""
        if not self._by_beginning(name):
            return Typed(e.BooleanLiteral(self.span, False), t.BOOLEAN, nullable=False)
        return Typed(parts.cast(e.NullLiteral(self.span), t.BIGINT), t.BIGINT)

    def _is_free(self, name: str) -> e.Expression:
        """Return the condition that a local has not been set for this attempt."""
        if not self._by_beginning(name):
            return e.Unary(self.span, "NOT", local(self.span, name))
        return e.IsDistinct(self.span, local(self.span, name), self._run("rows"), negated=False)

    def _set(self, name: str) -> m.SetLocal:
        if not self._by_beginning(name):
            return m.SetLocal(name, Typed(e.BooleanLiteral(self.span, True), t.BOOLEAN))
        return m.SetLocal(name, Typed(self._run("rows"), t.BIGINT))

    def _waits(self) -> m.ProgramStatement:
        """Return the statement that keeps a match waiting for those before it."""
        at = e.Binary(self.span, "=", self._run("at"), text(self.span, MATCHED))
        condition = parts.all_of([self._is_free(self.names.decided), at])
        assert condition is not None
        kept = self._run()
        if self._counts:
            kept = self._moved(MATCHED, self._run("seen"), self._run("kept"))
        return m.If((m.IfBranch(condition, (self._kept(kept),)),), ())

    def _step(self, place: Place, sources: Sequence[str]) -> m.ProgramStatement:
        """Return the statement that advances attempts to a place."""
        at, span = self._run("at"), self.span
        texts = tuple(text(span, source) for source in sources)
        is_at = e.InList(span, at, texts, negated=False)
        conditions: list[e.Expression] = [
            self._is_free(self.names.decided),
            is_at if len(texts) > 1 else e.Binary(span, "=", at, texts[0]),
        ]
        if place.name in self.merged:
            conditions.append(self._is_first(place))
        condition = self.conditions.get(place.variable)
        if condition is not None:
            conditions += conjuncts(condition.expression)
        whole = parts.all_of(conditions)
        assert whole is not None
        return m.If((m.IfBranch(whole, tuple(self._led_on(place))),), ())

    def _is_first(self, place: Place) -> e.Expression:
        """Return the condition that no preferred attempt with this beginning is at a place yet."""
        span = self.span
        one = parts.free_name("one", self.names.all())
        more = e.Binary(span, "+", self._run("rows"), number(span, 1))
        at = e.Binary(span, "=", _named(span, one, "at"), text(span, place.name))
        same = e.Binary(span, "=", _named(span, one, "rows"), more)
        body = e.Binary(span, "AND", at, same)
        lambda_ = e.Lambda(span, (parts.name(span, one),), body)
        exists = call(span, "exists", self._runs, lambda_)
        return e.Unary(span, "NOT", exists)

    def _led_on(self, place: Place) -> list[m.ProgramStatement]:
        follow, names = self.automaton.follow[place.name], self.names
        seen = struct(
            self.span,
            (
                (one.name, Typed(self.memory.then(one, place.variable), one.type))
                for one in self.memory.in_order()
            ),
        )
        body: list[m.ProgramStatement] = []
        value = seen.expression
        if follow.places and follow.ends and self.memory.fields:
            body.append(m.Declare(names.seen, seen))
            value = local(self.span, names.seen)
        row = self.rows.row(self.memory, place.variable)
        rows = call(self.span, "array_append", self._run("kept"), row)
        if follow.places:
            body.append(self._kept(self._moved(place.name, value, rows)))
        if follow.ends:
            body.append(self._kept(self._moved(MATCHED, value, rows)))
            body.append(self._set(names.decided))
        return body

    # What is emitted, and what is kept.

    def _in_time(self) -> m.ProgramStatement:
        """Return the statement that drops attempts that began too long ago."""
        assert self.within is not None
        span, one = self.span, parts.free_name("one", self.names.all())
        at = e.Binary(span, "=", _named(span, one, "at"), text(span, MATCHED))
        until = parts.after(_named(span, one, "began"), self.within.micros)
        later = e.Binary(span, ">", until, parts.instant(span, self.names.within))
        lambda_ = e.Lambda(span, (parts.name(span, one),), e.Binary(span, "OR", at, later))
        kept = call(span, "filter", self._runs, lambda_)
        return m.SetCell(self.names.runs, Typed(kept, self._runs_type))

    def _given(self) -> tuple[m.ProgramStatement, ...]:
        """Return the statements that emit matches that nothing can replace, and keep the rest."""
        names, span = self.names, self.span
        at = e.Binary(span, "=", self._run("at"), text(span, MATCHED))
        condition = parts.all_of([at, self._is_free(names.open)])
        assert condition is not None
        keys = tuple(Typed(parts.key(span, one.name), one.type) for one in self.keys)
        given = self.rows.given(keys, names.number, names.row, self._run("kept"))
        keep = (self._kept(self._run()), self._set(names.open))
        step = m.If((m.IfBranch(condition, (*given, *self._resuming())),), keep)
        nothing = Typed(parts.cast(e.NullLiteral(span), t.BIGINT), t.BIGINT)
        resume = (m.Declare(names.resume, nothing),) if self.resume is not None else ()
        return (
            m.Declare(names.found, Typed(self._runs, self._runs_type)),
            m.Declare(names.open, self._undecided(names.open)),
            *resume,
            m.Clear(names.runs),
            m.For(
                *(names.run, self._run_type, Typed(local(span, names.found), self._runs_type)),
                (self._if_behind(step),),
            ),
            *self._waking(),
        )

    def _resuming(self) -> tuple[m.ProgramStatement, ...]:
        """Return the statement that notes the number of rows from the one to resume at."""
        if self.resume is None:
            return ()
        before = self._run("seen", self.resume.name)
        rows = e.Binary(self.span, "-", self._run("rows"), before)
        return (m.SetLocal(self.names.resume, Typed(rows, t.BIGINT)),)

    def _if_behind(self, step: m.ProgramStatement) -> m.ProgramStatement:
        """Return a step for attempts that did not begin before the row to resume at."""
        if self.resume is None:
            return step
        resume = local(self.span, self.names.resume)
        behind = e.Binary(self.span, "<=", self._run("rows"), resume)
        either = e.Binary(self.span, "OR", parts.is_null(resume), behind)
        return m.If((m.IfBranch(Typed(either, t.BOOLEAN), (step,)),), ())

    def _waking(self) -> tuple[m.ProgramStatement, ...]:
        """Return the statement that sets the timer for the attempt that began first."""
        if self.within is None:
            return ()
        span, timer = self.span, self.names.within
        is_any = e.Binary(span, ">", call(span, "size", self._runs), number(span, 0))
        first = e.Index(span, self._runs, number(span, 0))
        began = e.FieldAccess(span, first, parts.name(span, "began"))
        start = m.StartTimer(timer, Typed(parts.after(began, self.within.micros), t.TIMESTAMP))
        branch = m.IfBranch(Typed(is_any, t.BOOLEAN), (start,))
        return (m.If((branch,), (m.StopTimer(timer),)),)


def _named(span: Span, *texts: str) -> e.ColumnRef:
    return e.ColumnRef(span, tuple(parts.name(span, one) for one in texts))


def _merged_order(automaton: Automaton) -> list[tuple[Place, tuple[str, ...]]]:
    """Return the places with those that lead there, in the order of preference of all of these.

    Where two places prefer others in different orders, one of these is listed twice.
    """
    rest: dict[str, list[Place]] = {FRESH: list(automaton.begin.places)}
    rest |= {place.name: list(_places(automaton.follow, place)) for place in automaton.places}
    found: list[tuple[Place, tuple[str, ...]]] = []
    while any(rest.values()):
        heads = [places[0] for places in rest.values() if places]
        agreed = (p for p in heads if all(p not in ps or ps[0] == p for ps in rest.values()))
        place = next(agreed, heads[0])
        sources = [name for name, places in rest.items() if places and places[0] == place]
        for name in sources:
            rest[name].pop(0)
        found.append((place, tuple(sources)))
    return found


def _places(follow: dict[str, Follow], place: Place) -> tuple[Place, ...]:
    return follow[place.name].places
