"""The names that a spec declares.

One namespace of ids that are valid as Python variables and folders.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ....dsl.ast import queries as q
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import children, walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest

_ID = re.compile(r"[a-z_][a-z0-9_]*")
_LONGEST = 200
"""Maximum length of an id: file systems allow 255, of which derived ids and suffixes need some."""

_TAKEN_IN_SCRIPTS = {
    "job": "the running job",
    "build": "the function that builds the dataflow",
    "program": "what operators are written with",
    "cumulate": "the function for CUMULATE",
}

Declared: TypeAlias = (
    st.CreateSource
    | st.CreateTable
    | st.CreateStream
    | st.CreateSink
    | st.CreateFunction
    | st.CreateAggregate
    | st.CreateOperator
)
"""The statements that declare a name."""

KINDS: dict[type[st.Statement], str] = {
    st.CreateSource: "source",
    st.CreateTable: "table",
    st.CreateStream: "stream",
    st.CreateSink: "sink",
    st.CreateFunction: "function",
    st.CreateAggregate: "aggregate",
    st.CreateOperator: "operator",
}


def declared_names(spec: st.Spec, diagnostics: Diagnostics) -> dict[str, Declared]:
    """Return the first declaration of each name in order; report duplicates and unusable names."""
    found: dict[str, Declared] = {}
    seen: dict[str, tuple[Name, str]] = {}
    for statement in spec.statements:
        if not isinstance(statement, tuple(KINDS)):
            continue
        name: Name = statement.name  # type: ignore[attr-defined]
        if name.text not in seen:
            found[name.text] = statement  # type: ignore[assignment]
        for declared, kind in ((name, KINDS[type(statement)]), *_side_streams(statement)):
            first = seen.setdefault(declared.text, (declared, kind))
            if first[0] is not declared:
                diagnostics.add(_duplicate(declared, *first))
            else:
                diagnostics.extend(check_id(declared, kind))
    return found


def shared_ids(declared: Mapping[str, Declared]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each uid of two relations, which would share state."""
    uids: list[tuple[st.CreateStream | st.CreateOperator, st.Option]] = []
    taken: dict[str, tuple[Span, str]] = {}
    for node in declared.values():
        uid = _uid(node)
        if uid is not None and isinstance(node, st.CreateStream | st.CreateOperator):
            uids.append((node, uid))
            continue
        if isinstance(node, st.CreateSource | st.CreateStream | st.CreateOperator):
            kind = KINDS[type(node)]
            taken[node.name.text] = node.name.span, f"the id of {kind} `{node.name}`"
        for side, kind in _side_streams(node):
            taken.setdefault(side.text, (side.span, f"the id of {kind} `{side}`"))
    for node, uid in uids:
        first = taken.setdefault(
            uid.value, (uid.value_span, f"the uid of {KINDS[type(node)]} `{node.name}`")
        )
        if first[0] is not uid.value_span:
            yield _shared_id(uid, *first)


def _uid(node: Declared) -> st.Option | None:
    options = node.options if isinstance(node, st.CreateStream | st.CreateOperator) else ()
    return next((o for o in options if o.name.text == "uid"), None)


def _side_streams(statement: st.Statement) -> Iterator[tuple[Name, str]]:
    """Yield the streams that the row policies of a source or an operator declare."""
    if isinstance(statement, st.CreateSource):
        for policy in (statement.malformed, statement.future):
            if policy is not None and policy.stream is not None:
                yield policy.stream, "side stream"
    for name in late_streams(statement):
        yield name, "side stream"


def late_streams(statement: Node) -> Iterator[Name]:
    """Yield the streams that get the late rows of an operator, or of a query's operators."""
    for node in walk(statement):
        if isinstance(node, q.LateRows) and node.stream is not None:
            yield node.stream


def check_id(name: Name, what: str) -> Iterator[Diagnostic]:
    """Yield why a name can't be an id, if so."""
    if "__" in name.text:
        yield _reserved(name, f"`{name.text}` contains `__`, which is reserved for derived ids")
    elif not _ID.fullmatch(name.text):
        yield _reserved(name, f"`{name.text}` can't name a {what}: ids are `[a-z_][a-z0-9_]*`")
    elif keyword.iskeyword(name.text) or name.text in ("F", "match", "type"):
        yield _reserved(name, f"`{name.text}` is a Python keyword")
    elif name.text in _TAKEN_IN_SCRIPTS:
        what_it_is = _TAKEN_IN_SCRIPTS[name.text]
        yield _reserved(name, f"`{name.text}` is {what_it_is} in emitted scripts")
    elif len(name.text) > _LONGEST:
        yield _too_long(name, name.text)


def check_part(name: Name, what: str, whole: str) -> Iterator[Diagnostic]:
    """Yield why a name can't name a part of a stream, whose full name would be ``whole``."""
    wrong = [*check_id(name, what)]
    yield from wrong
    if not wrong and len(whole) > _LONGEST:
        yield _too_long(name, whole)


def _too_long(name: Name, id_: str) -> Diagnostic:
    shown = f"{id_[:20]}…{id_[-10:]}"
    return Diagnostic(
        codes.RESERVED_NAME,
        f"the id `{shown}` has {len(id_)} characters, but may have at most {_LONGEST}",
        Label(name.span, "its state is in a folder of that name"),
        help="choose a shorter name: file systems do not support longer ones",
    )


def dotted_parameter(name: Name) -> Diagnostic:
    """Return the diagnostic for a parameter of `->` that Spark would read as a field."""
    return Diagnostic(
        codes.RESERVED_NAME,
        f"`{name}` can't name a parameter of `->`",
        Label(name.span, "to Spark, a dot accesses a field"),
        help=f"call it `{name.text.replace('.', '_')}`, for example",
    )


def referenced_relations(query: q.Query) -> Iterator[q.TableRef]:
    """Yield the references to relations outside of the query (its own WITH names left out)."""
    yield from _references(query, frozenset())


def _references(node: Node, local: frozenset[str]) -> Iterator[q.TableRef]:
    if isinstance(node, q.TableRef) and node.name.text not in local:
        yield node
    if isinstance(node, q.Query):
        for table in node.with_:
            yield from _references(table.query, local)
            local = local | {table.name.text}
        for branch in node.branches:
            yield from _references(branch, local)
        return
    for child in children(node):
        yield from _references(child, local)


def unknown_relation(name: Name, known: tuple[str, ...], what: str = "stream") -> Diagnostic:
    """Return the diagnostic for an undeclared name."""
    near = closest(name.text, known)
    return Diagnostic(
        codes.UNKNOWN_NAME,
        f"there is no {what} `{name.text}`",
        Label(name.span),
        help=f"did you mean `{near[0]}`?" if near else f"declare it: `CREATE STREAM {name} AS …;`",
    )


def sink_is_not_read(name: Name, reads: str) -> Diagnostic:
    """Return the diagnostic for FROM with the name of a sink; ``reads`` is what the sink reads."""
    return Diagnostic(
        codes.UNKNOWN_NAME,
        f"`{name.text}` is a sink, and a sink cannot be read",
        Label(name.span),
        help=f"read what it writes: `FROM {reads}`",
    )


def _duplicate(name: Name, first: Name, kind: str) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"`{name.text}` is declared twice",
        Label(name.span, "declared again"),
        secondary=(Label(first.span, f"first declared here, as a {kind}"),),
        help="give one of them another name: sources, streams and sinks share one namespace",
    )


def _shared_id(uid: st.Option, first: Span, owner: str) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"`{uid.value}` is already {owner}",
        Label(uid.value_span, "two streams with one id would share their state"),
        secondary=(Label(first, "first taken here"),),
        help="a uid is the former name of one stream: remove it, or give the other stream its own",
    )


def _reserved(name: Name, message: str) -> Diagnostic:
    mended = re.sub(r"[^a-z0-9_]", "_", name.text.lower())
    mended = re.sub(r"__+", "_", mended)
    if not re.match(r"[a-z_]", mended) or mended == name.text:
        mended = f"{mended}_stream" if mended == name.text else f"s_{mended}"
    return Diagnostic(
        codes.RESERVED_NAME, message, Label(name.span), help=f"call it `{mended}`, for example"
    )
