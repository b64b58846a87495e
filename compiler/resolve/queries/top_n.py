"""QUALIFY ROW_NUMBER() OVER (…) <= n, RANK and DENSE_RANK: the top of each closed window.

    SELECT window_start, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY n DESC, tag) AS
    rank, tag, n FROM per_tag QUALIFY rank <= 10

The partition must hold a column of the window (its start, its end or its event time), so that the
rows of a partition are known to be complete when the watermark has passed the window. The ranked
rows are those of an aggregate, or with a window in FROM its rows themselves.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import islice

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ...model import types
from ...model.schema import Field, Schema
from ...model.steps import OrderItem, Project, TopN
from ..clauses.columns import Item, columns_of, is_identity, resolve_items, schema_of
from ..clauses.named_windows import NamedWindows
from ..scopes.relation_builder import Chain
from ..scopes.scope import BlockScope, Visible

_FORM = "QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY n DESC, name) <= 10"


_FUNCTIONS = ("row_number", "rank", "dense_rank")


@dataclass(frozen=True, slots=True)
class Ranking:
    """QUALIFY: the numbering, the limit, and the item that shows the number.

    ``function`` is ``row_number``, or with ties ``rank`` or ``dense_rank``.
    """

    function: str
    window: e.WindowSpec
    limit: int
    position: str | None
    span: Span


def is_ranking(expression: e.Expression) -> bool:
    """Return whether an expression is ``ROW_NUMBER() OVER …``, or a rank."""
    return (
        isinstance(expression, e.Call)
        and expression.over is not None
        and expression.name.text.lower() in _FUNCTIONS
    )


def ranking(select: q.Select, diagnostics: Diagnostics) -> Ranking | None:
    """Read QUALIFY, or report what is wrong with it."""
    node = select.qualify
    if node is None:
        return None
    numbered = {
        item.alias.text.lower(): item.expression
        for item in select.items
        if item.alias is not None and is_ranking(item.expression)
    }
    match node:
        case e.Binary(_, "<" | "<=" | "=" as operator, left, e.NumberLiteral(_, text)) if (
            text.isdigit()
        ):
            limit = int(text) - (operator == "<")
        case _:
            diagnostics.add(_form(node.span))
            return None
    if limit < 1 or (operator == "=" and limit != 1):
        diagnostics.add(_form(node.span))
        return None
    call = left
    if isinstance(left, e.ColumnRef) and len(left.parts) == 1:
        call = numbered.get(left.parts[0].text.lower(), left)
    if not isinstance(call, e.Call) or call.over is None or not is_ranking(call):
        diagnostics.add(_form(node.span))
        return None
    shown = [alias for alias, expression in numbered.items() if expression == call]
    others = [
        item
        for item in select.items
        if is_ranking(item.expression)
        and (item.alias is None or item.alias.text.lower() not in shown[:1])
    ]
    if others:
        diagnostics.add(_another(others[0].span))
        return None
    named = NamedWindows(select, diagnostics)
    window = named.whole(call.over)
    named.unused()
    if window is None:
        return None
    function = call.name.text.lower()
    position = shown[0] if shown else None
    return _checked(Ranking(function, window, limit, position, node.span), diagnostics)


def _checked(found: Ranking, diagnostics: Diagnostics) -> Ranking | None:
    if not found.window.order_by or found.window.frame is not None:
        diagnostics.add(_form(found.span))
        return None
    return found


def other_items(select: q.Select) -> tuple[q.SelectItem, ...]:
    """Return the select list without the row number."""
    return tuple(i for i in select.items if not is_ranking(i.expression))


def needed_items(
    found: Ranking, named: Container[str], *, in_window: bool
) -> tuple[q.SelectItem, ...]:
    """Return what the ranking needs besides the items with these names, in lower case.

    These are the columns of PARTITION BY and ORDER BY, and in a window the instant that closes it.
    """
    nodes = [*found.window.partition_by, *(o.expression for o in found.window.order_by)]
    if in_window:
        nodes.append(e.ColumnRef(found.span, (Name(found.span, "window_time"),)))
    refs = {n.parts[-1].text.lower(): n for n in reversed(nodes) if isinstance(n, e.ColumnRef)}
    return tuple(
        q.SelectItem(ref.span, ref) for name, ref in reversed(refs.items()) if name not in named
    )


class TopNResolver:
    """Adds the TopN, and the projection after it, to a chain whose rows it ranks."""

    def __init__(
        self, select: q.Select, found: Ranking, chain: Chain, visible: Visible, state_id: str
    ) -> None:
        self._select = select
        self._found = found
        self._chain = chain
        self._rows = visible
        self._id = state_id
        self._closes: str | None = None
        self._diagnostics = chain.context.diagnostics

    def over_items(self, names: tuple[str, ...]) -> None:
        """Rank rows whose columns already are the select items, in that order."""
        self._keep(self._output_names(names))

    def over_window(self, items: tuple[Item, ...], besides: tuple[Item, ...]) -> None:
        """Rank the rows of a window: these items, stars expanded, and what the ranking needs."""
        closes = [item.name for item in (*items, *besides) if _is_window_time(item)]
        if not closes:
            self._diagnostics.add(_no_window_time(self._found.span))
            return
        self._closes = closes[0]
        output: list[str] = []
        for written in self._select.items:
            if is_ranking(written.expression):
                output += [self._found.position] if self._found.position else []
                continue
            start, end = written.span.start, written.span.end
            output += [i.name for i in items if start <= i.span.start and i.span.end <= end]
        self._keep(tuple(output))

    def _keep(self, output: tuple[str, ...]) -> None:
        self._add(output, tuple(n for n in output if n != self._found.position))

    def over_input(self) -> None:
        """Rank the rows of a relation and compute the select list from their kept columns."""
        scope = BlockScope((self._rows,), self._diagnostics)
        items = resolve_items(other_items(self._select), scope, self._diagnostics, aggregates=False)
        used = [
            node.parts[0].text
            for item in items
            for node in walk(item.value.expression)
            if isinstance(node, e.ColumnRef)
        ]
        if all(isinstance(i.value.expression, e.ColumnRef) for i in items) and used == [
            i.name for i in items
        ]:
            self.over_items(tuple(used))
            return
        output = tuple(dict.fromkeys(used))
        position = (self._found.position,) if self._found.position else ()
        self._add((*position, *output), output)
        self._project(items)

    def _project(self, items: tuple[Item, ...]) -> None:
        """Put the row number at its position in the select list."""
        if self._found.position is not None:
            field = self._chain.schema.find(self._found.position)
            if field is None:
                return  # the ranking was refused and reported
            at = next(i for i, item in enumerate(self._select.items) if is_ranking(item.expression))
            scope = BlockScope(
                (Visible("", self._chain.schema, self._found.span),), self._diagnostics
            )
            ref = e.ColumnRef(self._found.span, (Name(self._found.span, field.name),))
            typed = scope.column(ref)
            assert typed is not None
            shown = Item(field.name, typed, field, self._found.span)
            items = (*items[:at], shown, *items[at:])
        if not is_identity(items, self._chain.schema):
            self._chain.add(Project(columns_of(items)), schema_of(items))

    def _output_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if self._found.position is None:
            return names
        output: list[str] = []
        rest = iter(names)
        for item in self._select.items:
            if is_ranking(item.expression):
                output.append(self._found.position)
            elif isinstance(item.expression, e.Star):
                output.extend(self._rows.schema.names())
                return tuple(dict.fromkeys((*output, *rest)))
            else:
                # An item without a name is reported and left out.
                output.extend(islice(rest, 1))
        return tuple(output)

    def _add(self, output: tuple[str, ...], kept: tuple[str, ...]) -> None:
        schema = self._rows.schema
        time = self._time()
        keys = self._keys()
        order = self._order()
        if time is None or keys is None or order is None:
            return
        grouped = tuple(dict.fromkeys((time.name, *keys)))
        columns = tuple(
            dict.fromkeys((*(n for n in kept if n not in grouped), *(o.column for o in order)))
        )
        fields: list[Field] = []
        for name in output:
            if name == self._found.position:
                fields.append(Field(name, types.INT, nullable=False))
                continue
            field = schema.find(name)
            if field is None:
                # Reported where the select list was resolved.
                return
            keeps = name in grouped
            fields.append(field if keeps else Field(field.name, field.type, field.nullable))
        self._chain.add(
            TopN(
                id=self._id,
                time=time.name,
                keys=grouped,
                columns=columns,
                order=order,
                limit=self._found.limit,
                function=self._found.function,
                position=self._found.position,
                output=output,
            ),
            Schema(tuple(fields)),
        )

    def _time(self) -> Field | None:
        times = self._rows.schema.event_times()
        if self._closes is not None:
            return self._rows.schema.find(self._closes)
        if times:
            return times[0]
        self._diagnostics.add(
            Diagnostic(
                codes.TOP_N_FORM,
                f"the rows of `{self._rows.alias}` have no event time, so no top is ever final",
                Label(self._found.span),
                secondary=(Label(self._rows.span, "these rows"),),
                help=f"select `window_time` in `{self._rows.alias}`: it is when a window is closed",
            )
        )
        return None

    def _keys(self) -> tuple[str, ...] | None:
        fields = [self._plain(node) for node in self._found.window.partition_by]
        known = [f for f in fields if f is not None]
        if len(known) < len(fields):
            return None
        if not any(f.of_window or f.watermark is not None for f in known):
            span = self._found.window.span
            self._diagnostics.add(
                Diagnostic(
                    codes.TOP_N_FORM,
                    "PARTITION BY holds no column of a window, so no top is ever final",
                    Label(span),
                    help="add `window_start` to PARTITION BY",
                )
            )
            return None
        return tuple(f.name for f in known)

    def _order(self) -> tuple[OrderItem, ...] | None:
        items: list[OrderItem] = []
        for sort in self._found.window.order_by:
            field = self._plain(sort.expression)
            if field is None:
                return None
            first = not sort.descending if sort.nulls is None else sort.nulls == "FIRST"
            items.append(OrderItem(field.name, field.type, field.nullable, sort.descending, first))
        return tuple(items)

    def _plain(self, node: e.Expression) -> Field | None:
        """Return the column named by PARTITION BY or ORDER BY.

        Expressions must be selected first.
        """
        if not isinstance(node, e.ColumnRef):
            self._diagnostics.add(_not_a_column(node))
            return None
        field = self._rows.schema.find(node.parts[-1].text)
        if field is None:
            near = closest(node.parts[-1].text, self._rows.schema.names())
            names = ", ".join(self._rows.schema.names())
            self._diagnostics.add(
                Diagnostic(
                    codes.UNKNOWN_COLUMN,
                    f"there is no column `{node.parts[-1]}` in the ranked rows",
                    Label(node.span),
                    help=f"did you mean `{near[0]}`?" if near else f"the columns are: {names}",
                )
            )
        return field


def _is_window_time(item: Item) -> bool:
    expression = item.value.expression
    return isinstance(expression, e.Call) and expression.name.text.lower() == "window_time"


def _no_window_time(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.TOP_N_FORM,
        "another column is called `window_time`, the instant that closes the ranked windows",
        Label(span),
        help="give that column another name",
    )


def _form(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.TOP_N_FORM,
        "QUALIFY takes a top-N of closed windows only",
        Label(span),
        help=f"the form is `{_FORM}`",
    )


def _another(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.TOP_N_FORM,
        "a top-N has one numbering, the one that QUALIFY asks of",
        Label(span),
        help="leave this one out, or number its rows in a stream of its own",
    )


def _not_a_column(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.TOP_N_FORM,
        "PARTITION BY and ORDER BY of a top-N take columns",
        Label(node.span),
        help="select the expression under a name and use that name",
    )


def top_of_join(select: q.Select) -> Diagnostic:
    """Return the diagnostic for QUALIFY in one SELECT with a join."""
    return Diagnostic(
        codes.TOP_N_FORM,
        "QUALIFY can't stand in one SELECT with a join",
        Label(select.relation.span),
        help="give the join a stream of its own, and rank its rows in windows: `FROM TUMBLE(…)`",
    )
