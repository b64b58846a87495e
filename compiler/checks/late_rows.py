"""Whether late rows, which a separate query determines, are those that the operator drops.

Both use a watermark, and it must be the same: no operator may precede, and the queries must wait
for the same sources. Panes also use the query's watermark to determine rows late for a window.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model.graph import OperatorGraph, upstream
from ..model.pipeline import Relation
from ..model.steps import LateRows, Stateful, late_steps
from ..operators.registry import operator_kind


def check_late_rows(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield the streams of late rows, and panes, that would use another watermark."""
    relations = {r.name: r for r in graph.pipeline.relations}
    for relation in graph.pipeline.relations:
        late = next(late_steps(relation.steps), None)
        if late is not None:
            stateful = next(_above(relation, relations), None)
            if stateful is not None:
                yield _made(relation, late, *stateful)
            else:
                yield from _other_sources(graph, relation, late, relations)
        own = [step for step in relation.steps if isinstance(step, Stateful)]
        if any(operator_kind(step).by_query_watermark(step) for step in own):
            old = (
                a for a in _above(relation, relations) if operator_kind(a[1]).gives_old_rows(a[1])
            )
            yield from (_behind(relation, *above) for above in islice(old, 1))


def _above(
    relation: Relation, relations: dict[str, Relation]
) -> Iterator[tuple[Relation, Stateful]]:
    """Yield the stateful steps that the rows of a relation come from, nearest relations first."""
    for name in dict.fromkeys(n for i in relation.inputs for n in upstream(i, relations)):
        for step in relations[name].steps if name in relations else ():
            if isinstance(step, Stateful):
                yield relations[name], step


def _other_sources(
    graph: OperatorGraph, late: Relation, step: LateRows, relations: dict[str, Relation]
) -> Iterator[Diagnostic]:
    """Yield a warning if the operator is in a query that waits for other sources as well."""
    own = set(upstream(late.name, relations))
    streams = [r.name for r in relations.values() if r.stream == step.operator and _is_late(r, own)]
    for query in graph.queries:
        read = set(upstream(query.relation, relations))
        others = [
            source.name
            for source in graph.pipeline.sources
            if source.name in read - own and source.watermark is not None
        ]
        if others and read.intersection(streams):
            yield _waits(late, step, query.id, others)
            return


def _is_late(relation: Relation, own: set[str]) -> bool:
    """Return whether a part of a stream is the operator itself: it reads what its late rows do."""
    return own.issuperset(relation.inputs) and any(isinstance(s, Stateful) for s in relation.steps)


def _made(late: Relation, step: LateRows, above: Relation, made: Stateful) -> Diagnostic:
    return Diagnostic(
        codes.UNSUPPORTED_CHAIN,
        f"no row is late for `{step.operator}`: what it reads comes out of `{made.id}` in time",
        Label(late.span),
        secondary=(Label(above.span, f"`{made.id}` drops late rows itself"),),
        help=f"write ON LATE ROWS where `{made.id}` is declared, or leave it out",
    )


def _behind(relation: Relation, above: Relation, join: Stateful) -> Diagnostic:
    return Diagnostic(
        codes.UNSUPPORTED_CHAIN,
        "a window with panes can't stand behind a join",
        Label(relation.span, "its panes go by the watermark of the query"),
        secondary=(Label(above.span, f"the rows of `{join.id}` are behind that by its bound"),),
        help="leave EMIT EARLY and ALLOWED LATENESS out: the rows of a join are not late",
    )


def _waits(late: Relation, step: LateRows, query: str, others: list[str]) -> Diagnostic:
    names = " and ".join(f"`{name}`" for name in others)
    return Diagnostic(
        codes.LATE_ROWS_WATERMARK,
        f"in query `{query}` the watermark of `{step.operator}` waits for {names} as well",
        Label(late.span, "told by the sources that these rows come from"),
        help=f"a row may be sent here that `{query}` still takes: give `{step.operator}` a sink of "
        "its own, in whose query no row is both",
    )
