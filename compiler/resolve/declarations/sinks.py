"""CREATE SINK: what it reads and where it writes."""

from __future__ import annotations

from collections.abc import Mapping

from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...connectors.registry import SINKS
from ...model.pipeline import Endpoint, Sink
from ..scopes.names import sink_is_not_read, unknown_relation
from ..scopes.relation_builder import Environment
from .options import endpoint
from .tables import not_a_stream
from .upserts import MODE_OPTIONS, refuse_upsert, resolve_upsert


def resolve_sink(
    node: st.CreateSink,
    env: Environment,
    variables: Mapping[str, str | None],
    diagnostics: Diagnostics,
) -> Sink | None:
    """Return the sink, or None after a report."""
    before = len(diagnostics)
    point = endpoint(refuse_upsert(node, diagnostics), node.name, SINKS, variables, diagnostics)
    known = env.relations.get(node.stream.text)
    if known is None:
        if node.stream.text in env.sinks:
            diagnostics.add(sink_is_not_read(node.stream, env.sinks[node.stream.text]))
        elif node.stream.text in env.tables:
            diagnostics.add(not_a_stream(node.stream, "a sink"))
        elif node.stream.text not in env.broken:
            diagnostics.add(unknown_relation(node.stream, tuple(env.relations), "stream or source"))
        return None
    if point is None:
        return None
    upsert = resolve_upsert(node, point, known, diagnostics)
    role = SINKS[point.connector]
    changes = known.changes and not upsert.upsert and not any(f.pane for f in known.schema)
    if changes and not role.takes_changes and len(diagnostics) == before:
        diagnostics.add(_sink_mode(node, point.connector))
    diagnostics.extend(role.check_columns(node, point, upsert.key, known.schema))
    if len(diagnostics) > before:
        return None
    return Sink(
        node.name.text,
        known.relation,
        _without_mode(point),
        node.name.span,
        upsert.upsert,
        upsert.key,
        upsert.latest_by,
    )


def _without_mode(point: Endpoint) -> Endpoint:
    """Mode and key are parts of the sink: the connector's options are the others."""
    options = tuple((name, text) for name, text in point.options if name not in MODE_OPTIONS)
    return Endpoint(point.connector, options, point.passed)


def _sink_mode(node: st.CreateSink, connector: str) -> Diagnostic:
    takers = ", ".join(name for name, sink in SINKS.items() if sink.takes_changes)
    by_key = " or ".join(
        f"`{name}`"
        for name, sink in SINKS.items()
        if sink.promise.upserts and not sink.takes_changes
    )
    close = f"let `{node.stream}` emit when its windows close"
    return Diagnostic(
        codes.SINK_MODE,
        f"connector `{connector}` only adds rows, and `{node.stream}` emits changes",
        Label(node.name.span),
        secondary=(Label(node.stream.span, "its rows replace earlier ones"),),
        help=f"add `mode = 'upsert'` and the columns that it groups by as `key`, or {close}"
        if SINKS[connector].promise.upserts
        else f"{close}, select `pane` if it has panes, or write to another connector:\n{by_key} "
        f"with `mode = 'upsert'` and the columns that it groups by as `key`,\nor {takers}",
    )
