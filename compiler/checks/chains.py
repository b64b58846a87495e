"""Chains of stateful steps that Spark refuses, or whose meaning would change.

A query that emits changes runs in Spark's update mode as a whole: a windowed aggregate further up
would emit its open windows into the steps after it, and joins of streams exist in append mode only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model.graph import OperatorGraph, upstream
from ..model.pipeline import Relation
from ..model.steps import Stateful
from ..operators.registry import kind_of, operator_kind


def check_chains(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield the stateful steps above an aggregate that emits changes."""
    relations = {r.name: r for r in graph.pipeline.relations}
    for relation in graph.pipeline.relations:
        own = [step for step in _stateful(relation) if operator_kind(step).changes(step)]
        if not own:
            continue
        names = dict.fromkeys(n for i in relation.inputs for n in upstream(i, relations))
        for name in names:
            above = relations.get(name)
            for step in _stateful(above) if above is not None else ():
                if above is not None and operator_kind(step).appends:
                    yield _refused(step, own[0], Label(relation.span), Label(above.span))
    for relation, step in graph.stateful():
        below = graph.pipeline.schema(relation.inputs[0])
        yield from operator_kind(step).refused(step, relation, below)
    yield from _two_times(graph)


def _stateful(relation: Relation) -> tuple[Stateful, ...]:
    return tuple(step for step in relation.steps if isinstance(step, Stateful))


def _refused(step: Stateful, own: Stateful, changing: Label, above: Label) -> Diagnostic:
    return Diagnostic(
        codes.UNSUPPORTED_CHAIN,
        f"{operator_kind(own).noun} that emits changes can't stand behind "
        f"{operator_kind(step).noun}",
        Label(changing.span, "emits changes"),
        secondary=(Label(above.span, f"`{step.id}` gives final rows only"),),
        help="group by a window, whose rows come out when it closes, and leave `EMIT CHANGES` out",
    )


def _two_times(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """A window over processing time defines a watermark, and Spark allows one in a chain."""
    relations = {r.name: r for r in graph.pipeline.relations}
    for relation in relations.values():
        if not _opens_processing_window(relation):
            continue
        for name in dict.fromkeys(upstream(relation.name, relations)):
            source, other = graph.source(name), relations.get(name)
            if source is not None and source.watermark is not None:
                above = Label(source.span, f"WATERMARK FOR {source.watermark.column}")
                fix = "read the same rows by a source without WATERMARK, or use the event time"
                yield _second_watermark(relation, "rows with an event time", above, fix)
            elif other is not None and other is not relation and _opens_processing_window(other):
                above = Label(other.span, "opens the first")
                fix = "select `window_time` there, and open the second window over it"
                yield _second_watermark(relation, "another one", above, fix)


def _opens_processing_window(relation: Relation) -> bool:
    return any(
        window.processing for step in relation.steps for window in kind_of(step).windows(step)
    )


def _second_watermark(relation: Relation, what: str, above: Label, fix: str) -> Diagnostic:
    return Diagnostic(
        codes.UNSUPPORTED_CHAIN,
        f"a window over the processing time can't stand on {what}",
        Label(relation.span, "Spark has one watermark in a chain of steps"),
        secondary=(above,),
        help=fix,
    )
