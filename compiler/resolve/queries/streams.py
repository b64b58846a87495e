"""CREATE STREAM: a query, its WITH tables and its union branches, as relations."""

from __future__ import annotations

from ....dsl.ast import queries as q
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types
from ...model.coercion import common_type
from ...model.pipeline import Relation
from ...model.schema import Field, LostTime, Schema
from ...model.steps import Branch, Union
from ..declarations.stream_options import stream_options
from ..scopes.names import check_part
from ..scopes.relation_builder import Chain, Environment, StreamContext, known_as, part_name
from .from_clause import FromResolver
from .select_block import BlockResolver


def resolve_stream(
    node: st.CreateStream, env: Environment, diagnostics: Diagnostics
) -> tuple[Relation, ...] | None:
    """Return the relations of a stream, the stream itself last.

    None if it has errors, or reads something with errors.
    """
    before = diagnostics.errors
    options = stream_options(node, diagnostics)
    context = StreamContext(
        node.name.text, options.uid, options.unbounded, node.name.span, diagnostics
    )
    relation = resolve_query(node.query, node.name.text, env, context)
    if relation is None or diagnostics.errors > before:
        return None
    return tuple(context.relations)


def resolve_query(
    query: q.Query, name: str, env: Environment, context: StreamContext
) -> Relation | None:
    """Resolve a query as the relation ``name``; None after a report."""
    env = env.child()
    for table in query.with_:
        problems = list(check_part(table.name, "WITH table", part_name(name, table.name)))
        context.diagnostics.extend(problems)
        relation = None
        if not problems:
            relation = resolve_query(table.query, part_name(name, table.name), env, context)
        _declare(table.name.text, relation, table, env)
    if len(query.branches) == 1:
        chain = _block(query.branches[0], name, env, context, branch=False)
        return chain.finish(name) if chain is not None else None
    return _union(query, name, env, context)


def _declare(name: str, relation: Relation | None, table: q.CommonTable, env: Environment) -> None:
    if relation is None:
        env.relations.pop(name, None)
        env.broken.add(name)
        return
    env.relations[name] = known_as(relation, table.name.span)


def _block(
    select: q.Select, name: str, env: Environment, context: StreamContext, *, branch: bool
) -> Chain | None:
    before = context.diagnostics.errors
    source = FromResolver(name, env, context, resolve_query).resolve(select.relation)
    if source is None:
        return None
    chain = BlockResolver(select, source, name, context, branch).resolve()
    return chain if context.diagnostics.errors == before else None


def _union(query: q.Query, name: str, env: Environment, context: StreamContext) -> Relation | None:
    chains = [_block(s, name, env, context, branch=True) for s in query.branches]
    known = [c for c in chains if c is not None]
    if len(known) < len(chains):
        return None
    first = known[0]
    fields = list(first.schema.fields)
    for select, chain in zip(query.branches[1:], known[1:], strict=True):
        problem = _mismatch(query.branches[0], select, fields, chain)
        if problem is not None:
            context.diagnostics.add(problem)
            return None
        fields = [_merged(a, b) for a, b in zip(fields, chain.schema, strict=True)]
    if len({c.changes for c in known}) > 1:
        context.diagnostics.add(_mixed_changes(query))
        return None
    whole = Chain(
        context,
        name,
        query.span,
        tuple(dict.fromkeys(i for c in known for i in c.inputs)),
        Schema(tuple(fields), _lost_time(known, fields)),
        first.changes,
        any(c.above_state for c in known),
    )
    branches: tuple[Branch, ...] = tuple(c.as_branch() for c in known)
    whole.add(Union(branches))
    return whole.finish(name)


def _lost_time(branches: list[Chain], fields: list[Field]) -> LostTime | None:
    """What became of the event time of a branch, if the union has none."""
    if any(field.watermark is not None for field in fields):
        return None
    return next((c.schema.lost for c in branches if c.schema.lost is not None), None)


def _merged(a: Field, b: Field) -> Field:
    common = common_type(a.type, b.type) or types.UNKNOWN
    watermark = None
    if a.watermark is not None and b.watermark is not None:
        watermark = max(a.watermark, b.watermark, key=lambda d: d.micros)
    return Field(
        a.name,
        common,
        a.nullable or b.nullable,
        watermark,
        a.of_window and b.of_window,
        a.proctime and b.proctime,
        a.pane and b.pane,
        a.behind or b.behind,
    )


def _mismatch(
    first: q.Select, select: q.Select, fields: list[Field], chain: Chain
) -> Diagnostic | None:
    others = chain.schema.fields
    label = Label(select.span, f"{len(others)} columns")
    above = (Label(first.span, f"{len(fields)} columns"),)
    if len(others) != len(fields):
        return Diagnostic(
            codes.UNION_FORM,
            f"the branches of a union have {len(fields)} and {len(others)} columns",
            label,
            secondary=above,
            help="select the same columns in the same order: they are put together by position",
        )
    for a, b in zip(fields, others, strict=True):
        if a.name.lower() != b.name.lower():
            return Diagnostic(
                codes.UNION_FORM,
                f"column `{a.name}` of a union meets `{b.name}` in another branch",
                Label(select.span, f"`{b.name}` stands where the first branch has `{a.name}`"),
                secondary=(Label(first.span),),
                help=f"columns meet by position: reorder them, or write `{b.name} AS {a.name}`",
            )
        if common_type(a.type, b.type) is None:
            return Diagnostic(
                codes.UNION_FORM,
                f"column `{a.name}` of a union is {a.type} in one branch and {b.type} in another",
                Label(select.span),
                secondary=(Label(first.span),),
                help=f"cast one of them, as in `CAST({b.name} AS {a.type}) AS {a.name}`",
            )
    return None


def _mixed_changes(query: q.Query) -> Diagnostic:
    return Diagnostic(
        codes.CHANGES_INPUT,
        "a union puts together rows that are final and rows that change",
        Label(query.span),
        help="let all branches emit in one way",
    )
