"""FROM: the input of a SELECT block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model.pipeline import Relation
from ...model.schema import Schema
from ...model.steps import Window
from ..clauses.joins import refuse_kind
from ..clauses.lookups import LookupJoin, refuse_lookup_kind, stream_behind
from ..clauses.unnest import add_unnest, is_unnest, unnest_alone, unnest_of_join, unnest_of_pattern
from ..clauses.window_joins import unlike_windows
from ..clauses.windows import resolve_window
from ..declarations.tables import not_a_stream
from ..lowering.match_form import no_event_time, rows_alone
from ..lowering.match_program import MatchProgram
from ..lowering.match_recognize import match_program
from ..scopes.names import check_part, sink_is_not_read, unknown_relation
from ..scopes.relation_builder import Environment, Known, StreamContext, known_as, part_name
from ..scopes.scope import Visible
from .count_select import CountWindow, count_window, counted_beside

ResolveQuery: TypeAlias = Callable[[q.Query, str, Environment, StreamContext], Relation | None]


@dataclass(frozen=True, slots=True)
class Input:
    """One relation in FROM, with the window opened on it, or the pattern over its rows."""

    known: Known
    visible: Visible
    window: Window | None = None
    matches: MatchProgram | None = None
    counted: CountWindow | None = None


@dataclass(frozen=True, slots=True)
class From:
    """One input, or two joined ones, and the tables in which their rows are looked up.

    ``as_of`` is the instant of a temporal join.
    """

    inputs: tuple[Input, ...]
    join: q.Join | None = None
    as_of: e.Expression | None = None
    lookups: tuple[LookupJoin, ...] = ()

    @property
    def joins(self) -> bool:
        """Whether rows of several relations are combined, under their aliases."""
        return self.join is not None or bool(self.lookups)


class FromResolver:
    """Resolves the FROM of the blocks of one relation."""

    def __init__(
        self, name: str, env: Environment, context: StreamContext, resolve_query: ResolveQuery
    ) -> None:
        self._name = name
        self._env = env
        self._context = context
        self._resolve_query = resolve_query
        self._diagnostics = context.diagnostics

    def resolve(self, node: q.Relation) -> From | None:
        """Return the input of FROM, or None after a report."""
        if isinstance(node, q.Join) and self._is_table(node.right):
            return self._lookup(node, node.right)
        if not isinstance(node, q.Join) or is_unnest(node):
            found = self._input(node)
            return From((found,)) if found is not None else None
        if self._is_table(node.left):
            self._diagnostics.add(_stream_behind(node))
            return None
        refused = refuse_kind(node)
        if refused is not None:
            self._diagnostics.add(refused)
            return None
        if isinstance(node.left, q.Join) and not is_unnest(node.left):
            self._diagnostics.add(_second_join(node))
            return None
        as_of = node.right.as_of if isinstance(node.right, q.TableRef) else None
        if isinstance(node.right, q.TableRef) and as_of is not None:
            if self._is_table(replace(node.right, as_of=None)):
                self._diagnostics.add(_no_versions(node.right))
                return None
            node = replace(node, right=replace(node.right, as_of=None))
        left, right = (self._input(side) for side in (node.left, node.right))
        if left is None or right is None:
            return None
        if left.visible.alias.lower() == right.visible.alias.lower():
            self._diagnostics.add(_same_alias(node, left.visible))
            return None
        counted = left.counted or right.counted
        if counted is not None:
            self._diagnostics.add(counted_beside(counted.node, "a join"))
            return None
        if left.matches is not None or right.matches is not None:
            self._diagnostics.add(no_event_time(node.left.span.to(node.right.span)))
            return None
        if as_of is not None and (left.window or right.window):
            self._diagnostics.add(_versions_of_windows(node))
            return None
        left = _joined(left, optional=node.kind in ("RIGHT", "FULL"))
        right = _joined(right, optional=node.kind in ("LEFT", "FULL"))
        problem = unlike_windows(node, left.visible, right.visible)
        if problem is not None:
            self._diagnostics.add(problem)
            return None
        return From((left, right), node, as_of)

    def _is_table(self, node: q.Relation) -> TypeGuard[q.TableRef]:
        """Return whether a relation is a declared table; a name of WITH takes precedence."""
        if not isinstance(node, q.TableRef) or node.as_of is not None:
            return False
        return node.name.text in self._env.tables and node.name.text not in self._env.relations

    def _lookup(self, node: q.Join, table: q.TableRef) -> From | None:
        if self._is_table(node.left):
            self._diagnostics.add(not_a_stream(node.left.name, "FROM"))
            return None
        below = self.resolve(node.left)
        if refuse_lookup_kind(node, table.name.text, self._diagnostics) or below is None:
            return None
        known = self._env.tables[table.name.text]
        alias = (table.alias or table.name).text
        visible = Visible(alias, known.schema, known.span, is_table=True)
        others = (*(i.visible for i in below.inputs), *(k.visible for k in below.lookups))
        if any(visible.alias.lower() == other.alias.lower() for other in others):
            self._diagnostics.add(_same_alias(node, visible))
            return None
        visible = _joined(Input(known, visible), optional=node.kind == "LEFT").visible
        lookup = LookupJoin(node, known.relation, visible)
        if below.as_of is not None:
            self._diagnostics.add(_second_join(node))
            return None
        inputs = below.inputs if below.joins else (_over(below.inputs[0]),)
        return From(inputs, below.join, lookups=(*below.lookups, lookup))

    def _input(self, node: q.Relation) -> Input | None:
        match node:
            case q.TableRef():
                return self._table(node)
            case q.SubqueryRef(_, query, alias):
                return self._subquery(node, query, alias)
            case q.WindowTable():
                return self._window(node)
            case q.MatchRecognize():
                return self._matches(node)
            case q.UnnestRef():
                self._diagnostics.add(unnest_alone(node))
            case q.Join() if is_unnest(node):
                return self._unnest(node)
            case q.Join():
                self._diagnostics.add(_join_inside(node))
        return None

    def _unnest(self, node: q.Join) -> Input | None:
        if isinstance(node.left, q.Join) and not is_unnest(node.left):
            self._diagnostics.add(unnest_of_join(node))
            return None
        below = self._input(node.left)
        if below is None:
            return None
        if below.matches is not None or below.counted is not None:
            self._diagnostics.add(unnest_of_pattern(node))
            return None
        found = add_unnest(node, below.known, below.visible, self._name, self._context)
        return None if found is None else Input(*found, below.window)

    def _table(self, node: q.TableRef) -> Input | None:
        if node.as_of is not None:
            self._diagnostics.add(_misplaced_instant(node))
            return None
        if node.name.text in self._env.sinks:
            reads = self._env.sinks[node.name.text]
            self._diagnostics.add(sink_is_not_read(node.name, reads))
            return None
        if self._is_table(node):
            self._diagnostics.add(not_a_stream(node.name, "FROM"))
            return None
        known = self._env.relations.get(node.name.text)
        if known is None:
            if node.name.text not in self._env.broken:
                names = (*self._env.relations, *self._env.tables)
                self._diagnostics.add(unknown_relation(node.name, names, "stream or source"))
            return None
        alias = node.alias or node.name
        return Input(known, Visible(alias.text, known.schema, known.span))

    def _subquery(self, node: q.SubqueryRef, query: q.Query, alias: Name | None) -> Input | None:
        if alias is None:
            self._diagnostics.add(
                Diagnostic(
                    codes.UNNAMED_COLUMN,
                    "a subquery in FROM needs a name",
                    Label(node.span, "its steps are known by it"),
                    help="name it with AS, as in `(SELECT …) AS recent`, or, inside of a window, "
                    "`TUMBLE((SELECT …), ts, INTERVAL 1 HOUR) AS recent`",
                )
            )
            return None
        problems = list(check_part(alias, "subquery", part_name(self._name, alias)))
        self._diagnostics.extend(problems)
        if problems:
            return None
        relation = self._resolve_query(
            query, part_name(self._name, alias), self._env, self._context
        )
        if relation is None:
            return None
        return Input(
            known_as(relation, alias.span), Visible(alias.text, relation.schema, alias.span)
        )

    def _window(self, node: q.WindowTable) -> Input | None:
        relation = node.relation
        if isinstance(relation, q.SubqueryRef) and relation.alias is None:
            # An alias after the window is as good as one inside it.
            relation = replace(relation, alias=node.alias)
        below = self._input(relation)
        if below is None:
            return None
        if below.window is not None:
            self._diagnostics.add(_window_in_window(node))
            return None
        if below.counted is not None:
            self._diagnostics.add(_window_in_window(node))
            return None
        visible = below.visible
        if node.alias is not None:
            visible = Visible(node.alias.text, visible.schema, visible.span)
        if node.kind == "COUNT_WINDOW":
            counted = count_window(node)
            if isinstance(counted, CountWindow):
                return Input(below.known, visible, counted=counted)
            self._diagnostics.add(counted)
            return None
        window = resolve_window(node, below.visible, self._diagnostics)
        return None if window is None else Input(below.known, visible, window)

    def _matches(self, node: q.MatchRecognize) -> Input | None:
        below = self._input(node.relation)
        if below is None:
            return None
        if below.window is not None or below.matches is not None:
            self._diagnostics.add(rows_alone(node))
            return None
        matches = match_program(node, below.known, below.visible, self._context)
        if matches is None:
            return None
        alias = below.visible.alias if node.alias is None else node.alias.text
        visible = Visible(alias, matches.schema, node.span)
        return Input(below.known, visible, matches=matches)


def _joined(side: Input, *, optional: bool) -> Input:
    """Return a side of a join; an optional one is NULL without a partner."""
    visible = replace(side.visible, window=side.window, optional=optional)
    if optional:
        fields = tuple(replace(field, nullable=True) for field in visible.schema)
        visible = replace(visible, schema=Schema(fields))
    return Input(side.known, visible)


def _over(side: Input) -> Input:
    """Return the stream of a lookup; the time that its window is over is under its alias."""
    if side.window is None or not isinstance(side.window.column.expression, e.ColumnRef):
        return side
    ref = side.window.column.expression
    qualified = replace(ref, parts=(Name(ref.span, side.visible.alias), *ref.parts))
    column = replace(side.window.column, expression=qualified)
    return replace(side, window=replace(side.window, column=column))


def _stream_behind(node: q.Join) -> Diagnostic:
    assert isinstance(node.left, q.TableRef)
    stream = node.right.name.text if isinstance(node.right, q.TableRef) else "…"
    return stream_behind(node, node.left.name.text, stream)


def _second_join(node: q.Join) -> Diagnostic:
    inner = node.left if isinstance(node.left, q.Join) else node.right
    return Diagnostic(
        codes.SECOND_STEP,
        "two joins in one SELECT would share one id",
        Label(node.right.span, "the second"),
        secondary=(Label(inner.span, "the first"),),
        help="give the first join a stream of its own and join that",
    )


def _no_versions(node: q.TableRef) -> Diagnostic:
    return Diagnostic(
        codes.TEMPORAL_JOIN,
        f"`{node.name}` is a TABLE, which has no versions to look up",
        Label(node.span),
        help=f"to look up rows as they are now: `JOIN {node.name} AS …`; versions come in by a "
        "SOURCE with a WATERMARK",
    )


def _misplaced_instant(node: q.TableRef) -> Diagnostic:
    return Diagnostic(
        codes.TEMPORAL_JOIN,
        "FOR SYSTEM_TIME AS OF says which version a row of a join is given",
        Label(node.span, "no row looks it up"),
        help=f"write `FROM orders AS o JOIN {node.name} FOR SYSTEM_TIME AS OF o.ts AS … ON …`",
    )


def _versions_of_windows(node: q.Join) -> Diagnostic:
    return Diagnostic(
        codes.TEMPORAL_JOIN,
        "a temporal join looks up versions for rows, and not for windows",
        Label(node.left.span.to(node.right.span)),
        help="aggregate the window in a stream of its own, and join that",
    )


def _join_inside(node: q.Join) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        "a window stands on one relation, not on a join",
        Label(node.span),
        help="give the join a stream of its own, or write it as `(SELECT … JOIN …) AS joined`",
    )


def _same_alias(node: q.Join, visible: Visible) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"both sides of the join are called `{visible.alias}`",
        Label(node.right.span),
        help="give one of them an alias, as in `AS later`",
    )


def _window_in_window(node: q.WindowTable) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_ARGUMENTS,
        "a window stands on a relation, not on another window",
        Label(node.span),
        help="aggregate the inner window in a stream of its own and select `window_time` there",
    )
