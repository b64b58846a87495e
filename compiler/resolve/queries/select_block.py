"""One SELECT block.

FROM, WHERE, then at most one aggregate, one top-N or DISTINCT ON, then columns.
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model.steps import AssignWindow, Filter, Project, Window
from ..clauses.columns import Item, columns_of, item_name, resolve_items, schema_of
from ..clauses.joins import add_join
from ..clauses.keys import has_aggregate
from ..clauses.late_rows import add_late_rows
from ..clauses.lookups import add_lookup
from ..clauses.lost_times import lost_time
from ..clauses.named_windows import unused_window
from ..clauses.windows import no_group, taken_name
from ..expressions.resolve import Clause, check
from ..lowering.over import OverResolver, beside_over, is_over
from ..lowering.pane_clauses import asks_for_panes, lateness_without_aggregate, resolve_panes
from ..lowering.temporal_join import TemporalJoin, add_temporal_join, own_select
from ..scopes.lateness import behind_join
from ..scopes.relation_builder import Chain, StreamContext, changes_input
from ..scopes.scope import BlockScope, Visible
from . import top_n
from .aggregates import Grouping
from .count_select import CountSelect, CountWindow, counted_beside, not_aggregated
from .distinct import Distinct, distinct_over, plain_distinct
from .from_clause import From
from .ranked_fields import ambiguous_fields


class BlockResolver:
    """Turns one SELECT block into a chain of steps.

    ``branch`` says that it is a branch of a union: its stateful steps all become relations of their
    own, so that the rest is stateless.
    """

    def __init__(
        self, select: q.Select, source: From, name: str, context: StreamContext, branch: bool
    ) -> None:
        self._select = select
        self._source = source
        self._context = context
        self._diagnostics = context.diagnostics
        self._branch = branch
        first = source.inputs[0]
        self._over = is_over(select, first.visible.schema, in_window=first.window is not None)
        self._ranking = None if self._over else top_n.ranking(select, self._diagnostics)
        self._chain = Chain(
            context,
            name,
            select.span,
            tuple(i.known.relation for i in source.inputs),
            first.visible.schema,
            any(i.known.changes for i in source.inputs),
            any(i.known.above_state for i in source.inputs),
        )
        self._scope = BlockScope(
            (*(i.visible for i in source.inputs), *(k.visible for k in source.lookups)),
            self._diagnostics,
            qualified=source.joins,
            window=first.window,
        )
        self._counted = next((i.counted for i in source.inputs if i.counted is not None), None)
        self._roles = self._stateful_roles()

    def resolve(self) -> Chain:
        """Return the chain; mistakes in the block are reported."""
        before, errors = len(self._context.relations), self._diagnostics.errors
        chain = self._resolve()
        late = self._select.late_rows
        if late is not None and late.stream is not None and self._diagnostics.errors == errors:
            schema = None if self._source.joins else self._source.inputs[0].visible.schema
            add_late_rows(late, late.stream, chain, before, schema)
        return chain

    def _resolve(self) -> Chain:
        select = self._select
        self._refuse_misplaced()
        self._refuse_changes()
        if select.qualify is not None and self._ranking is None and not self._over:
            return self._chain
        if self._over and self._refuse_beside_over():
            return self._chain
        if self._ranking is not None:
            aggregated = "aggregate" in self._roles
            found = ambiguous_fields(select, self._ranking, self._scope, aggregated=aggregated)
            self._diagnostics.extend(found)
        if self._source.join is not None and self._source.as_of is not None:
            self._temporal_join(self._source.join, self._source.as_of)
            return self._chain
        if self._counted is not None and self._refuse_beside_count(self._counted):
            return self._chain
        self._matches()
        self._join()
        if select.where is not None:
            clause = Clause("WHERE", aggregates=False)
            self._chain.add(Filter(check(select.where, self._scope, clause, self._diagnostics)))
        if self._source.join is not None:
            self._cut_unless_last("join")
        if self._over:
            if select.having is not None:
                self._diagnostics.add(_having_without_group(select.having))
            OverResolver(select, self._scope, self._chain, self._id("over")).resolve()
            self._cut_unless_last("over")
        elif self._counted is not None:
            counted = CountSelect(select, self._counted, self._scope, self._chain)
            counted.resolve(self._id("aggregate"))
            self._cut_unless_last("aggregate")
        elif "aggregate" in self._roles:
            self._aggregate()
        elif self._ranking is not None:
            self._top_of_input(self._ranking)
        else:
            self._rows()
        return self._chain

    def _temporal_join(self, node: q.Join, as_of: e.Expression) -> None:
        select, (rows, versions) = self._select, self._source.inputs
        if (problem := own_select(select, self._roles)) is not None:
            self._diagnostics.add(problem)
            return
        if select.having is not None:
            self._diagnostics.add(_having_without_group(select.having))
        join = TemporalJoin(node, as_of, (rows.known, versions.known), self._scope)
        add_temporal_join(join, select, self._chain, self._id("join"))
        self._cut_unless_last("join")

    def _matches(self) -> None:
        """Match a pattern first: everything else is over its rows."""
        matches = self._source.inputs[0].matches
        if matches is not None:
            step = matches.operator(self._id("match"))
            self._chain.add(step, step.returns)
            self._cut_unless_last("match")

    def _join(self) -> None:
        """Join the inputs of FROM; each ON sees those before it."""
        inputs, visible = self._source.inputs, tuple(i.visible for i in self._source.inputs)
        if self._source.join is not None:
            scope = BlockScope(visible, self._diagnostics, qualified=True)
            known = (inputs[0].known, inputs[1].known)
            node = self._source.join
            join = add_join(node, known, scope, self._chain, self._id("join"))
            if join is not None:
                self._scope.relations = tuple(
                    replace(side, schema=behind_join(join, side.schema, node.span))
                    for side in self._scope.relations
                )
        for number, lookup in enumerate(self._source.lookups):
            first = number == 0 and self._source.join is None
            add_lookup(lookup, visible, first, self._chain)
            visible = (*visible, lookup.visible)

    # Stateful steps and their ids.

    def _stateful_roles(self) -> tuple[str, ...]:
        """Return the roles of the block's stateful steps in order."""
        select = self._select
        roles = ["match"] if self._source.inputs[0].matches is not None else []
        roles += ["join"] if self._source.join is not None else []
        grouped = (
            *(i.expression for i in select.items),
            *([select.having] if select.having else []),
        )
        if select.group_by or any(has_aggregate(node) for node in grouped):
            roles.append("aggregate")
        if self._over:
            roles.append("over")
        elif select.qualify is not None:
            roles.append("topn")
        if select.distinct_on is not None:
            roles.append("dedup")
        return tuple(roles)

    def _is_last(self, role: str) -> bool:
        if role == "match" and self._source.lookups:
            return False
        return not self._branch and self._roles[-1] == role

    def _id(self, role: str) -> str:
        return self._chain.id_for(role, self._is_last(role), self._select.span)

    def _cut_unless_last(self, role: str) -> None:
        if not self._is_last(role):
            self._chain.cut(role)

    # The three shapes of a block.

    def _aggregate(self) -> None:
        items = list(self._select.items)
        if self._ranking is not None:
            named = {name.lower() for i in items if (name := item_name(i)) is not None}
            items = [*top_n.other_items(self._select)]
            items += top_n.needed_items(
                self._ranking, named, in_window=self._scope.window is not None
            )
        panes = None
        if asks_for_panes(self._select):
            beside = {"a join": self._source.joins, "QUALIFY": self._ranking is not None}
            what = next((name for name, is_there in beside.items() if is_there), None)
            panes = resolve_panes(self._select, self._scope.window, what, self._diagnostics)
            if panes is None:
                return
            self._scope.panes = True
        resolved = self._grouped_items(tuple(items))
        grouping = Grouping(self._select, self._chain, self._scope, panes)
        grouping.resolve(resolved, self._id("aggregate"))
        self._cut_unless_last("aggregate")
        if self._ranking is not None:
            shown = tuple(item.name for item in resolved)[: len(top_n.other_items(self._select))]
            rows = Visible(self._chain.name, self._chain.schema, self._select.span)
            top = top_n.TopNResolver(
                self._select, self._ranking, self._chain, rows, self._id("topn")
            )
            top.over_items(shown)
            self._cut_unless_last("topn")

    def _grouped_items(self, items: tuple[q.SelectItem, ...]) -> tuple[Item, ...]:
        stars = [i for i in items if isinstance(i.expression, e.Star)]
        for star in stars:
            self._diagnostics.add(_grouped_star(star))
        plain = tuple(i for i in items if i not in stars)
        return resolve_items(plain, self._scope, self._diagnostics, aggregates=True)

    def _top_of_input(self, ranking: top_n.Ranking) -> None:
        if self._source.joins:
            self._diagnostics.add(top_n.top_of_join(self._select))
            return
        if self._scope.window is not None:
            self._top_of_window(ranking, self._scope.window)
            return
        rows = self._source.inputs[0].visible
        top = top_n.TopNResolver(self._select, ranking, self._chain, rows, self._id("topn"))
        top.over_input()
        self._cut_unless_last("topn")

    def _top_of_window(self, ranking: top_n.Ranking, window: Window) -> None:
        """Rank the rows of each window, with their selected columns."""
        self._assign_window(window)
        others = top_n.other_items(self._select)
        written = resolve_items(others, self._scope, self._diagnostics, aggregates=False)
        named = {item.name.lower() for item in written}
        needed = top_n.needed_items(ranking, named, in_window=True)
        besides = resolve_items(needed, self._scope, self._diagnostics, aggregates=False)
        items = (*written, *besides)
        self._chain.add(Project(columns_of(items)), schema_of(items))
        rows = Visible(self._chain.name, self._chain.schema, self._select.span)
        top = top_n.TopNResolver(self._select, ranking, self._chain, rows, self._id("topn"))
        top.over_window(written, besides)
        self._cut_unless_last("topn")

    def _rows(self) -> None:
        if self._select.having is not None:
            self._diagnostics.add(_having_without_group(self._select.having))
        if self._select.distinct_on is not None and self._deduplicate(self._select.distinct_on):
            return
        if self._scope.window is not None:
            self._assign_window(self._scope.window)
        items = resolve_items(self._select.items, self._scope, self._diagnostics, aggregates=False)
        if not self._is_whole_star():
            schema = replace(schema_of(items), lost=lost_time(items, self._scope, self._chain.name))
            self._chain.add(Project(columns_of(items)), schema)
        if self._select.distinct_on is not None:
            self._cut_unless_last("dedup")

    def _is_whole_star(self) -> bool:
        """Return whether the select list is just ``*``, over the columns of one relation.

        Listed columns are emitted even if they are all columns: a column added to the relation
        later must not change this output.
        """
        plain = not self._scope.qualified and self._scope.window is None
        items = self._select.items
        return plain and len(items) == 1 and isinstance(items[0].expression, e.Star)

    def _assign_window(self, window: Window) -> None:
        if window.kind == "session":
            self._diagnostics.add(no_group("SESSION", self._select.relation.span))
        visible = self._source.inputs[0].visible
        if visible.schema.find(window.struct) is not None:
            self._diagnostics.add(taken_name(self._select.relation.span, visible, window.struct))
        self._chain.add(AssignWindow(window))

    def _deduplicate(self, node: q.DistinctOn) -> bool:
        """Keep the first rows; return whether that also computes the select list."""
        found = Distinct(self._select, node, self._source, self._scope, self._chain)
        if node.within is None:
            found.of_rows(self._id("dedup"))
            return False
        found.within(node.within, self._id("dedup"))
        self._cut_unless_last("dedup")
        return True

    # Refused combinations.

    def _refuse_misplaced(self) -> None:
        select = self._select
        if select.distinct:
            self._diagnostics.add(plain_distinct(select))
        if select.windows and not self._over and select.qualify is None:
            self._diagnostics.add(unused_window(select.windows[0]))
        if select.emit is not None and "aggregate" not in self._roles:
            self._diagnostics.add(_emit_without_aggregate(select.emit))
        elif select.allowed_lateness is not None and "aggregate" not in self._roles:
            self._diagnostics.add(lateness_without_aggregate(select.allowed_lateness))
        others = {"aggregate": "aggregates", "topn": "aggregates", "over": "OVER"}
        beside = next((others[role] for role in self._roles if role in others), None)
        if select.distinct_on is not None and beside is not None:
            self._diagnostics.add(distinct_over(select.distinct_on, beside))

    def _refuse_beside_over(self) -> bool:
        """Report what a SELECT with OVER can't be combined with."""
        what = {
            "a join": self._source.joins,
            "a window of FROM": self._scope.window is not None,
            "aggregates of groups": "aggregate" in self._roles,
        }
        found = [name for name, is_there in what.items() if is_there]
        if found:
            self._diagnostics.add(beside_over(self._select, found[0]))
        return bool(found)

    def _refuse_beside_count(self, window: CountWindow) -> bool:
        """Report what a SELECT over a count window can't be combined with, or lacks."""
        if "aggregate" not in self._roles:
            self._diagnostics.add(not_aggregated(window.node))
            return True
        for what, is_there in (
            ("a join", self._source.joins),
            ("QUALIFY", self._select.qualify is not None),
        ):
            if is_there:
                self._diagnostics.add(counted_beside(window.node, what))
                return True
        return False

    def _refuse_changes(self) -> None:
        if not self._roles:
            return
        for input_ in self._source.inputs:
            if input_.known.changes:
                verb = _ROLE_VERBS[self._roles[0]]
                message = f"`{input_.visible.alias}` emits changes, which can't be {verb}"
                place = Label(self._select.relation.span)
                self._diagnostics.add(changes_input(input_.known, message, place))


_ROLE_VERBS = {
    "match": "matched against a pattern",
    "join": "joined",
    "aggregate": "aggregated again",
    "topn": "ranked",
    "dedup": "deduplicated",
    "over": "read in the order of time",
}


def _grouped_star(item: q.SelectItem) -> Diagnostic:
    return Diagnostic(
        codes.NOT_GROUPED,
        "`*` holds columns that are neither keys nor inside an aggregate",
        Label(item.span),
        help="name the keys and the aggregates",
    )


def _having_without_group(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.NOT_GROUPED,
        "HAVING needs aggregates",
        Label(node.span),
        help="use WHERE for a condition on rows",
    )


def _emit_without_aggregate(node: q.Emit) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "EMIT belongs to an aggregate, and this SELECT has none",
        Label(node.span),
        help="leave it out: rows come out as they come in",
    )
