"""A whole spec: declarations in the order in which they can be resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...contracts.records import dataclass
from ...dsl.ast import statements as st
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...dsl.settings.values import Settings
from ..model.pipeline import Pipeline, Relation, Sink, Source, Table
from ..model.schema import Schema
from .clauses.late_rows import is_late
from .declarations.checkpoints import resolve_checkpoint
from .declarations.functions import resolve_functions
from .declarations.java import check_java
from .declarations.row_policies import side_streams
from .declarations.secrets import check_secrets
from .declarations.sinks import resolve_sink
from .declarations.sources import resolve_source
from .declarations.tables import resolve_table
from .programs.operator import resolve_operator
from .queries.streams import resolve_stream
from .scopes.names import Declared, declared_names, late_streams, referenced_relations, shared_ids
from .scopes.relation_builder import Environment, Known, known_as

_Stream: TypeAlias = st.CreateStream | st.CreateOperator


@dataclass(frozen=True, slots=True)
class Resolved:
    """The pipeline, None when the spec has errors, and the columns that are known even then.

    ``schemas`` has those of sources, tables, streams and their named parts, by name.
    """

    pipeline: Pipeline | None
    schemas: Mapping[str, Schema]


def resolve(spec: st.Spec, settings: Settings, diagnostics: Diagnostics) -> Resolved:
    """Resolve a spec; mistakes are reported."""
    check_secrets(spec, settings, diagnostics)
    diagnostics.extend(check_java(spec, settings))
    declared = declared_names(spec, diagnostics)
    diagnostics.extend(shared_ids(declared))
    functions = resolve_functions(declared, (name.text for name in spec.broken), diagnostics)
    declared = {name: functions.bind(node, diagnostics) for name, node in declared.items()}
    env = Environment({}, {name.text for name in spec.broken})
    sources, tables, relations = _declared_inputs(declared, env, settings, diagnostics)
    env.sinks.update(
        (name, node.stream.text)
        for name, node in declared.items()
        if isinstance(node, st.CreateSink)
    )
    for stream in _ordered_streams(declared, env, diagnostics):
        resolved = _relations(stream, env, diagnostics)
        if resolved is None:
            env.broken.add(stream.name.text)
            env.broken.update(name.text for name in late_streams(stream))
            continue
        relations.extend(resolved)
        for relation in resolved:
            if relation is resolved[-1] or is_late(relation):
                # The first declaration of a name counts.
                env.relations.setdefault(relation.name, known_as(relation, relation.span))
    sinks: list[Sink] = []
    for node in declared.values():
        if isinstance(node, st.CreateSink):
            sink = resolve_sink(node, env, settings.variables, diagnostics)
            if sink is not None:
                sinks.append(sink)
    checkpoint = resolve_checkpoint(spec, diagnostics)
    schemas = {relation.name: relation.schema for relation in relations}
    schemas.update(
        (name, known.schema) for name, known in (*env.tables.items(), *env.relations.items())
    )
    if diagnostics.has_errors:
        return Resolved(None, schemas)
    pipeline = Pipeline(
        diagnostics.source.name.rsplit("/", 1)[-1],
        settings,
        checkpoint,
        tuple(sources),
        tuple(relations),
        tuple(sinks),
        tuple(found for found in functions.known.values() if found is not None),
        frozenset(functions.called),
        tuple(tables),
    )
    return Resolved(pipeline, schemas)


def _declared_inputs(
    declared: Mapping[str, Declared],
    env: Environment,
    settings: Settings,
    diagnostics: Diagnostics,
) -> tuple[list[Source], list[Table], list[Relation]]:
    """Declare sources and tables, and the side streams of sources."""
    sources: list[Source] = []
    tables: list[Table] = []
    relations: list[Relation] = []
    for name, node in declared.items():
        if isinstance(node, st.CreateSource):
            schema, source = resolve_source(node, settings.variables, diagnostics)
            env.relations[name] = Known(
                name, schema, changes=False, above_state=False, span=node.name.span
            )
            if source is not None:
                sources.append(source)
            for side, known, relation in side_streams(node, schema, source):
                # The first declaration of a name counts.
                if side not in declared:
                    env.relations.setdefault(side, known)
                if relation is not None:
                    relations.append(relation)
        elif isinstance(node, st.CreateTable):
            schema, table = resolve_table(node, settings.variables, diagnostics)
            env.tables[name] = Known(
                name, schema, changes=False, above_state=False, span=node.name.span
            )
            if table is not None:
                tables.append(table)
    return sources, tables, relations


def _relations(
    node: _Stream, env: Environment, diagnostics: Diagnostics
) -> tuple[Relation, ...] | None:
    if isinstance(node, st.CreateStream):
        return resolve_stream(node, env, diagnostics)
    return resolve_operator(node, env, diagnostics)


def _ordered_streams(
    declared: Mapping[str, Declared], env: Environment, diagnostics: Diagnostics
) -> list[_Stream]:
    """Return streams and operators so that each follows those it reads; report cycles."""
    streams = {n: d for n, d in declared.items() if isinstance(d, _Stream)}
    # Late rows are declared along with their stream.
    late = {name.text: n for n, d in streams.items() for name in late_streams(d)}
    order: list[_Stream] = []
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = path[path.index(name) :]
            if not env.broken.intersection(circle):
                diagnostics.add(_cycle(circle, streams))
            env.broken.update(circle)
            return
        if name in done:
            return
        for read in _read(streams[name]):
            owner = read if read in streams else late.get(read, read)
            if owner in streams:
                visit(owner, (*path, name))
        done.add(name)
        if name not in env.broken:
            order.append(streams[name])

    for name in streams:
        visit(name, ())
    return order


def _read(node: _Stream) -> list[str]:
    if isinstance(node, st.CreateOperator):
        return [given.stream.text for given in node.inputs]
    return [reference.name.text for reference in referenced_relations(node.query)]


def _cycle(circle: tuple[str, ...], streams: Mapping[str, _Stream]) -> Diagnostic:
    first = streams[circle[0]].name
    way = " → ".join(f"`{name}`" for name in (*circle, circle[0]))
    return Diagnostic(
        codes.CYCLE,
        f"streams read each other in a cycle: {way}",
        Label(first.span),
        secondary=tuple(Label(streams[n].name.span) for n in circle[1:]),
        help="remove one of them from the cycle",
    )
