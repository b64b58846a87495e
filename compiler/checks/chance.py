"""Random values that would be computed more than once for a row.

Each query computes everything it reads, starting at the sources. A number drawn in a stream that
two queries read, or one query reads twice, would differ between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Call, ColumnRef, Expression
from ...dsl.ast.walk import walk
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ...dsl.reports.source import Span
from ..graph.liveness import Visit, visits
from ..model.chance import is_drawn
from ..model.graph import OperatorGraph, Query
from ..model.pipeline import Pipeline, Relation, Source
from ..model.steps import Filter, SideRows
from ..operators.registry import kind_of

_PICKED = frozenset({"any_value"})


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A call in a relation or a source, and the queries that compute it, as often as they do."""

    relation: str
    call: Call
    queries: list[str]


def check_chance(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield the calls whose value differs between the outputs of a row."""
    relations = {r.name: r for r in graph.pipeline.relations}
    sources = {s.name: s for s in graph.pipeline.sources}
    found: dict[tuple[str, int, Span], _Drawn] = {}
    for query in graph.queries:
        for visit in _visits(query, graph.pipeline):
            for call in _calls(visit, sources):
                place = (visit.relation, id(visit.step), call.span)
                drawn = found.setdefault(place, _Drawn(visit.relation, call, []))
                drawn.queries.append(query.relation)
    for drawn in found.values():
        if len(drawn.queries) > 1:
            yield _told(drawn, relations)


def _visits(query: Query, pipeline: Pipeline) -> Iterator[Visit]:
    """Yield what a query computes, except for rows that all other queries leave out."""
    aside = False
    for visit in visits(query.relation, pipeline):
        if not aside:
            yield visit
        aside = isinstance(visit.step, SideRows)


def _calls(visit: Visit, sources: Mapping[str, Source]) -> Iterator[Call]:
    """Yield the calls of a step, without those duplicated by the body of a function."""
    seen: set[Span] = set()
    for expression in _expressions(visit, sources):
        for node in walk(expression):
            if isinstance(node, Call) and _by_chance(node) and node.span not in seen:
                seen.add(node.span)
                yield node


def _by_chance(call: Call) -> bool:
    return is_drawn(call) or call.name.text.lower() in _PICKED


def _expressions(visit: Visit, sources: Mapping[str, Source]) -> Iterator[Expression]:
    source = sources.get(visit.relation)
    if visit.step is not None or source is None:
        if visit.step is not None:
            yield from kind_of(visit.step).reads(visit.step, visit.demand.heads)
        return
    # A computed column reads those before it.
    needed = set(visit.demand.heads)
    if source.watermark is not None:
        needed.add(source.watermark.column)
    for column in reversed(source.computed):
        if column.name in needed:
            nodes = [*walk(column.value.expression)]
            needed |= {n.parts[0].text for n in nodes if isinstance(n, ColumnRef)}
            yield column.value.expression


def _told(drawn: _Drawn, relations: Mapping[str, Relation]) -> Diagnostic:
    name = drawn.call.name.text.lower()
    readers = [*dict.fromkeys(drawn.queries)]
    if len(readers) == 1:
        where = f"`{readers[0]}` reads `{drawn.relation}` in two ways"
    else:
        shown = ", ".join(f"`{reader}`" for reader in readers[:-1])
        where = f"the queries of {shown} and `{readers[-1]}` each compute `{drawn.relation}`"
    if name in _PICKED:
        return Diagnostic(
            codes.PICKED_TWICE,
            f"{where}, and `{name}` may pick another value in each",
            Label(drawn.call.span, "any of the values of a group"),
            help="write what decides, as in MIN(x), or MAX_BY(x, STRUCT(at, x))",
        )
    what = "would keep other rows" if _is_filter(drawn, relations) else "would be another value"
    return Diagnostic(
        codes.DRAWN_TWICE,
        f"{where}, and `{name}()` {what} in each",
        Label(drawn.call.span, "computed anew in each of them"),
        help=f"write `{drawn.relation}` to a topic or a folder, and read that as a source; sinks "
        f"FROM one stream share\nits rows as they are; or derive the value from the row, as in "
        f"SHA2(order_id, 256) or HASH(order_id) % 100",
    )


def _is_filter(drawn: _Drawn, relations: Mapping[str, Relation]) -> bool:
    relation = relations.get(drawn.relation)
    conditions = [s.condition for s in relation.steps if isinstance(s, Filter)] if relation else []
    return any(node is drawn.call for c in conditions for node in walk(c.expression))
