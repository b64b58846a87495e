"""MATCH_RECOGNIZE: its parts resolved and assembled into a program."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports.diagnostics import Diagnostic
from ...model import types as t
from ...model.reads import LocalRef
from ...model.schema import Field
from ...model.steps import Column
from ...model.typed import Typed
from ..clauses.windows import missing_watermark
from ..declarations.durations import duration
from ..expressions.resolve import Clause, check
from ..expressions.typing import Context, require_boolean
from ..programs.reads import PROGRAM
from ..scopes.relation_builder import Known, StreamContext
from ..scopes.scope import BlockScope, Visible
from . import match_form as form
from .builders import column, local, parameters_of
from .match_fields import Memory, Remembered
from .match_pattern import MOST_PLACES, Automaton, automaton, repetitions, size, variables
from .match_program import MatchNames, MatchProgram
from .match_reads import checked
from .match_rows import MatchRows, has_number
from .match_scope import MatchScope


@dataclass(frozen=True, slots=True)
class _Conditions:
    """DEFINE resolved: the condition of a variable, and how many rows it goes back.

    ``depend`` says that one reads rows of single variables, so that two attempts at one place may
    have different futures.
    """

    by_variable: dict[str, Typed]
    back: dict[str, tuple[int, e.Expression]]
    depend: bool


def match_program(
    node: q.MatchRecognize, known: Known, visible: Visible, context: StreamContext
) -> MatchProgram | None:
    """Return the program of a pattern, None after a report."""
    diagnostics = context.diagnostics
    before = diagnostics.errors
    diagnostics.extend(_bad_pattern(node))
    scope = BlockScope((visible,), diagnostics)
    keys = _keys(node, visible, scope, context)
    time = _time(node, visible, scope, context)
    within = None
    if node.within is not None:
        within = duration(node.within, "WITHIN", diagnostics)
    elif not context.unbounded:
        diagnostics.add(form.unbounded(node, context.stream))
    if diagnostics.errors > before:
        return None
    found = automaton(node.pattern)
    if found.begin.ends:
        diagnostics.add(form.empty_match(node))
    diagnostics.extend(_bad_skip(node, found))
    taken = {visible.alias.lower(), *(field.name.lower() for field in keys)}
    names = MatchNames.beside(taken | _parameters(node))
    written: dict[str, str] = {}
    for one in variables(node.pattern):
        written.setdefault(one.name.text.lower(), one.name.text)
    memory = Memory(node.span, lambda name: _remembered(node, names, name), written)
    resume = _resume(node, memory, names)
    conditions = _conditions(node, visible, memory, names, context)
    diagnostics.extend(_too_far_back(conditions, found))
    measured = _scope(node, visible, memory, names, context)
    measures = _measures(node, keys, visible, measured, context)
    rows = _rows(node, keys, visible, measures, names)
    if rows.counts and not context.unbounded:
        diagnostics.add(form.numbered(node, context.stream))
    if diagnostics.errors > before:
        return None
    return MatchProgram(
        *(node.span, known, visible.alias, time, keys),
        *(found, conditions.by_variable, rows, memory, names),
        *(within, node.skip != "PAST LAST ROW", resume),
        frozenset() if conditions.depend else found.met_twice(),
    )


def _remembered(node: q.MatchRecognize, names: MatchNames, name: str) -> LocalRef:
    return local(node.span, names.run, "seen", name)


def _scope(
    node: q.MatchRecognize,
    visible: Visible,
    memory: Memory,
    names: MatchNames,
    context: StreamContext,
) -> MatchScope:
    known = frozenset(one.name.text.lower() for one in variables(node.pattern))
    taken = names.all() | _parameters(node)
    return MatchScope(*(visible.alias, visible.schema, known, taken, memory, context.diagnostics))


def _parameters(node: q.MatchRecognize) -> set[str]:
    """Return the names that lambdas would hide."""
    written = [one.expression for one in node.measures] + [one.condition for one in node.define]
    return {name for one in written for name in parameters_of(one)}


# Refusals.


def _bad_pattern(node: q.MatchRecognize) -> Iterator[Diagnostic]:
    for part in repetitions(node.pattern):
        if part.at_most is not None and part.at_most < max(part.at_least, 1):
            yield form.no_turns(part)
    if size(node.pattern) > MOST_PLACES:
        yield form.too_long(node, size(node.pattern))
    known = {one.name.text.lower() for one in variables(node.pattern)}
    first: dict[str, q.PatternDefinition] = {}
    for one in node.define:
        folded = one.variable.text.lower()
        taken = first.setdefault(folded, one)
        if taken is not one:
            yield form.defined_twice(one, taken)
        elif folded not in known:
            yield form.not_in_pattern(one, known)


def _bad_skip(node: q.MatchRecognize, found: Automaton) -> Iterator[Diagnostic]:
    """Report a SKIP TO a variable for which SQL raises an error at run time."""
    if node.skip_to is None:
        return
    variable = node.skip_to.text.lower()
    known = {place.variable for place in found.places}
    if variable not in known:
        yield form.skip_to_nothing(node, node.skip_to, known)
    elif found.may_lack(variable):
        yield form.skip_to_lacking(node, node.skip_to)
    elif found.may_begin(variable, alone=node.skip == "TO LAST"):
        yield form.skip_to_beginning(node, node.skip_to)


def _resume(node: q.MatchRecognize, memory: Memory, names: MatchNames) -> Remembered | None:
    """Return how many rows of a match precede the one at which SKIP TO a variable resumes."""
    if node.skip_to is None:
        return None
    rows = Typed(local(node.span, names.run, "rows"), t.BIGINT)
    choose = memory.first if node.skip == "TO FIRST" else memory.last
    return choose(node.skip_to.text.lower(), rows, 0)


def _keys(
    node: q.MatchRecognize, visible: Visible, scope: BlockScope, context: StreamContext
) -> tuple[Field, ...]:
    """Return the columns of PARTITION BY."""
    found: dict[str, Field] = {}
    for key in node.partition_by:
        value = check(key, scope, Clause("PARTITION BY"), context.diagnostics)
        if value.type is t.UNKNOWN:
            continue
        column = scope.field(value.expression)
        if column is None:
            context.diagnostics.add(form.computed_key(key, visible, context.diagnostics))
        elif not t.is_groupable(column.type):
            context.diagnostics.add(form.no_key(key, column))
        else:
            found[column.name] = column
    if not node.partition_by:
        context.diagnostics.add(form.one_core(node, context.stream))
    return tuple(found.values())


def _time(
    node: q.MatchRecognize, visible: Visible, scope: BlockScope, context: StreamContext
) -> str:
    """Return the event time that orders the rows, None after a report."""
    times = visible.schema.event_times()
    if not node.order_by:
        context.diagnostics.add(form.no_order(node, visible))
        return ""
    first = node.order_by[0]
    value = check(first.expression, scope, Clause("ORDER BY"), context.diagnostics)
    if value.type is t.UNKNOWN:
        return ""
    column = scope.field(value.expression)
    if not times:
        problem = missing_watermark("MATCH_RECOGNIZE", first.expression, visible)
        context.diagnostics.add(problem)
    elif column not in times or first.descending or len(node.order_by) > 1:
        context.diagnostics.add(form.other_order(node, visible))
    return "" if column is None else column.name


# Expressions.


def _conditions(
    node: q.MatchRecognize,
    visible: Visible,
    memory: Memory,
    names: MatchNames,
    context: StreamContext,
) -> _Conditions:
    found: dict[str, Typed] = {}
    back: dict[str, tuple[int, e.Expression]] = {}
    depend = False
    for one in node.define:
        scope = _scope(node, visible, memory, names, context)
        scope.tried = one.variable.text.lower()
        value = checked(one.condition, scope)
        typing = Context(scope, PROGRAM, context.diagnostics)
        require_boolean(value, one.condition, typing, f"`{one.variable}` of DEFINE")
        found[scope.tried] = value
        back[scope.tried] = (scope.back, one.condition)
        depend = depend or any(field.variable is not None for field in scope.read)
    return _Conditions(found, back, depend)


def _too_far_back(conditions: _Conditions, found: Automaton) -> Iterator[Diagnostic]:
    """Report the conditions that would read rows before the first one of a match."""
    before = found.rows_before()
    for variable, (count, condition) in conditions.back.items():
        least = min(before[place.name] for place in found.places if place.variable == variable)
        if count > least:
            yield form.too_far_back(condition, variable, count, least)


def _rows(
    node: q.MatchRecognize,
    keys: tuple[Field, ...],
    visible: Visible,
    measures: tuple[Column, ...],
    names: MatchNames,
) -> MatchRows:
    """Return the output besides keys: with ALL ROWS also the other columns."""
    keyed = {field.name for field in keys}
    columns = None
    if node.rows == "ALL":
        columns = tuple(field for field in visible.schema if field.name not in keyed)

    def read(name: str) -> e.Expression:
        return column(node.span, visible.alias, name, names.all())

    return MatchRows(node.span, measures, columns, read)


def _measures(
    node: q.MatchRecognize,
    keys: tuple[Field, ...],
    visible: Visible,
    scope: MatchScope,
    context: StreamContext,
) -> tuple[Column, ...]:
    found: list[Column] = []
    names = (field.name.lower() for field in keys)
    first = dict(zip(names, (key.span for key in node.partition_by), strict=False))
    if node.rows == "ALL":
        first |= {name.lower(): visible.span for name in visible.schema.names()}
    for one in node.measures:
        taken = first.setdefault(one.name.text.lower(), one.span)
        if taken is not one.span:
            context.diagnostics.add(form.column_twice(one, taken))
        value = checked(one.expression, scope)
        if has_number(value.expression):
            context.diagnostics.add(form.number_in_expression(one))
        found.append(Column(one.name.text, value))
    if not node.measures and not keys and node.rows != "ALL":
        context.diagnostics.add(form.no_columns(node))
    return tuple(found)
