"""WITH of a stream or an operator: its identity, and state that is accepted without a bound."""

from __future__ import annotations

from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...connectors.elsewhere import instead_of_ksqldb, of_ksqldb
from ..foreign.not_built import not_built
from ..scopes.names import KINDS, check_id
from .options import unique_options, unknown_option

_OPTIONS = ("uid", "unbounded", "state_backend")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The id of its state, and whether that may grow without a bound."""

    uid: str
    unbounded: bool


def stream_options(
    node: st.CreateStream | st.CreateOperator, diagnostics: Diagnostics
) -> StreamOptions:
    """Return the options, after reporting mistakes in them."""
    options = unique_options(node.options, diagnostics)
    elsewhere = of_ksqldb(options.values())
    if elsewhere is not None:
        diagnostics.add(_of_ksqldb(node, elsewhere, instead_of_ksqldb(options.values())))
    kind = KINDS[type(node)]
    for name, option in options.items() if elsewhere is None else ():
        if name not in _OPTIONS:
            diagnostics.add(unknown_option(option, f"{kind} `{node.name}`", _OPTIONS))
        elif name == "state_backend":
            diagnostics.add(
                not_built(
                    f"state_backend of one {kind}",
                    option.span,
                    "set it for the pipeline, in the front matter",
                )
            )
        elif not option.value.strip():
            diagnostics.add(_empty_option(option))
    uid = node.name.text
    if "uid" in options:
        name_node = replace(node.name, text=options["uid"].value, span=options["uid"].value_span)
        diagnostics.extend(check_id(name_node, "uid"))
        uid = options["uid"].value
    return StreamOptions(uid, "unbounded" in options)


def _of_ksqldb(
    node: st.CreateStream | st.CreateOperator, option: st.Option, instead: str
) -> Diagnostic:
    """A stream of ksqlDB is written to a topic; here a sink does that."""
    return Diagnostic(
        codes.UNKNOWN_OPTION,
        f"`{option.name}` says how a stream is written, which belongs in a sink",
        Label(option.name.span),
        help=f"`CREATE SINK {node.name}_out FROM {node.name} {instead}`",
    )


def _empty_option(option: st.Option) -> Diagnostic:
    why = "'counts per user, ten thousand at most'"
    return Diagnostic(
        codes.OPTION_VALUE,
        f"`{option.name}` is empty",
        Label(option.value_span),
        help=f"say why, as in `unbounded = {why}`"
        if option.name.text == "unbounded"
        else "name it",
    )
