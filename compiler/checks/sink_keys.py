"""Whether the key of a sink that replaces rows determines which rows replace which.

Rows that change need the key of their groups: with less, groups would overwrite each other; with
more, a changed row would be added instead of replacing the old one. Other rows may share a key, and
then an event time must say which of them is the latest.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..graph.identity import identity
from ..model.graph import OperatorGraph
from ..model.pipeline import Sink
from ..operators.rows.identity import Identity


def check_sink_keys(graph: OperatorGraph) -> Iterator[Diagnostic]:
    """Yield the sinks whose key does not fit what they read."""
    relations = {r.name: r for r in graph.pipeline.relations}
    for sink in graph.pipeline.sinks:
        if not sink.upsert:
            continue
        relation = relations.get(sink.relation)
        known = identity(sink.relation, relations)
        if relation is not None and relation.changes:
            # Rows that change always have an identity.
            yield from _changes(sink, known or Identity((), ()))
        elif sink.latest_by is None and not _covers(sink, known):
            yield _no_order(sink)


def _covers(sink: Sink, known: Identity | None) -> bool:
    return known is not None and all(part.intersection(sink.key) for part in known.parts)


def _changes(sink: Sink, known: Identity) -> Iterator[Diagnostic]:
    whole = ", ".join(
        next((name for name in sink.key if name in part), min(part, default=word))
        for part, word in zip(known.parts, known.words, strict=True)
    )
    lost = [word for part, word in zip(known.parts, known.words, strict=True) if not part]
    held = frozenset().union(*known.parts) | known.constants
    if lost:
        message = f"`{sink.relation}` changes its rows and does not select `{lost[0]}`"
        help_ = f"select it too, and write `key = '{whole}'`"
    elif not _covers(sink, known):
        message = f"groups of `{sink.relation}` would overwrite each other in `{sink.name}`"
        help_ = f"the key of a group is all that it groups by: `key = '{whole}'`"
    elif extra := [name for name in sink.key if name not in held]:
        message = f"`{extra[0]}` is no part of the groups of `{sink.relation}`: its value changes"
        help_ = (
            f"write `key = '{whole}'`"
            if whole
            else "all rows are one group: select a constant, as in `'all' AS id`, for a key"
        )
    else:
        return
    yield Diagnostic(codes.SINK_KEY, message, Label(sink.span), help=help_)


def _no_order(sink: Sink) -> Diagnostic:
    return Diagnostic(
        codes.SINK_KEY_ORDER,
        f"nothing says which row of `{sink.relation}` is the latest of its key",
        Label(sink.span, "rows of one batch may share a key"),
        help="let the stream select exactly one event time (`window_time` of a window)",
    )
