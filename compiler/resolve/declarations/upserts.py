"""Sinks that replace rows: `mode = 'upsert'` and the columns of its key.

``compiler.checks.sink_keys`` checks whether the key fits the rows of the relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....contracts.records import dataclass
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...connectors.options import UPSERT
from ...connectors.registry import SINKS
from ...model import types
from ...model.pipeline import Endpoint
from ...model.schema import Field, Schema
from ..scopes.relation_builder import Known

MODE_OPTIONS = ("mode", "key")

_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`\s*|([^,]*))(,|\Z)")
"""A name in a list, with or without backticks, up to the next comma."""


@dataclass(frozen=True, slots=True)
class Upsert:
    """How a sink writes; see ``Sink``."""

    upsert: bool
    key: tuple[str, ...]
    latest_by: str | None


def refuse_upsert(node: st.CreateSink, diagnostics: Diagnostics) -> tuple[st.Option, ...]:
    """Return the options; report those of an upsert, and drop them, if the connector has none."""
    given = {o.name.text: o for o in node.options}
    named = given.get("connector")
    connector = SINKS.get(named.value) if named is not None else None
    asked = given.get("key")
    if "mode" in given and given["mode"].value == UPSERT:
        asked = given["mode"]
    if named is None or connector is None or connector.promise.upserts or asked is None:
        return node.options
    takers = ", ".join(name for name, sink in SINKS.items() if sink.promise.upserts)
    diagnostics.add(
        Diagnostic(
            codes.SINK_MODE,
            f"connector `{named.value}` only adds rows, it can't replace those of a key",
            Label(asked.span),
            help=f"leave it out, or write to one of: {takers}",
        )
    )
    return tuple(o for o in node.options if o.name.text not in MODE_OPTIONS)


def resolve_upsert(
    node: st.CreateSink, point: Endpoint, known: Known, diagnostics: Diagnostics
) -> Upsert:
    """Read mode and key of a sink whose options are well-formed."""
    given = {o.name.text: o for o in node.options}
    upsert = point.option("mode") == UPSERT
    if "key" not in given or point.option("key") is None:
        if upsert:
            diagnostics.add(_no_key(node, known))
        return Upsert(upsert, (), None)
    if not upsert and not SINKS[point.connector].sends_key:
        diagnostics.add(_key_without_upsert(given["key"], point.connector))
        return Upsert(False, (), None)
    key = _key(given["key"], node, known.schema, diagnostics)
    times = known.schema.event_times() if upsert and not known.changes else ()
    return Upsert(upsert, key, times[0].name if len(times) == 1 else None)


def _key(
    option: st.Option, node: st.CreateSink, schema: Schema, diagnostics: Diagnostics
) -> tuple[str, ...]:
    """Return the columns of a key as the relation spells them."""
    found: list[str] = []
    for name in _names(option.value):
        field = schema.find(name)
        if not name or (field is not None and field.name in found):
            wrong = f"names `{field.name}` twice" if field is not None else "has an empty name"
            diagnostics.add(
                Diagnostic(
                    codes.OPTION_VALUE,
                    f"`key` {wrong}",
                    Label(option.value_span),
                    help="write the columns with commas between them, as in `key = 'a, b'`",
                )
            )
        elif field is None:
            diagnostics.add(_unknown(name, option, node, schema))
        elif types.is_nested(field.type):
            diagnostics.add(_key_type(field, option))
        else:
            found.append(field.name)
    return tuple(found)


def _names(text: str) -> Iterator[str]:
    """Yield comma-separated names."""
    at, more = 0, True
    while more and (found := _PART.match(text, at)) is not None:
        yield found[2].strip() if found[1] is None else found[1].replace("``", "`")
        at, more = found.end(), found[3] == ","


def _unknown(name: str, option: st.Option, node: st.CreateSink, schema: Schema) -> Diagnostic:
    near = closest(name, schema.names())
    return Diagnostic(
        codes.UNKNOWN_COLUMN,
        f"there is no column `{name}` in `{node.stream}`",
        Label(option.value_span),
        help=f"did you mean `{near[0]}`?"
        if near
        else f"its columns are: {', '.join(schema.names())}",
    )


def _key_type(field: Field, option: st.Option) -> Diagnostic:
    return Diagnostic(
        codes.SINK_KEY_TYPE,
        f"`{field.name}` is {field.type}, which can't be a key",
        Label(option.value_span),
        help="use columns of scalar values: numbers, strings, instants",
    )


def _no_key(node: st.CreateSink, known: Known) -> Diagnostic:
    example = known.schema.names()[0]
    return Diagnostic(
        codes.MISSING_OPTION,
        f"`{node.name}` replaces rows but has no key",
        Label(node.name.span),
        help=f"add the columns that identify rows, as in `key = '{example}'`",
    )


def _key_without_upsert(option: st.Option, connector: str) -> Diagnostic:
    return Diagnostic(
        codes.OPTION_VALUE,
        f"`key` has no meaning for a `{connector}` sink that adds each row",
        Label(option.span),
        help="add `mode = 'upsert'` to replace rows by it, or leave it out",
    )
