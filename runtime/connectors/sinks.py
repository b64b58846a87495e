"""Sinks for the batches of a relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..base.errors import BAD_OPTION, RuntimeFault
from ..base.options import choose, refuse_rest
from ..state.state import State
from .interface import Sink, SinkRequest
from .registry import SINKS
from .upserts import take_key


def open_sinks(sinks: Sequence[Sink], state: State) -> None:
    """Opens the sinks of a run: nothing is truncated before all have been checked and claimed."""
    for sink in sinks:
        sink.check()
    state.begin_turn()
    for sink in sinks:
        sink.claim()
    for sink in sinks:
        sink.open()


def make_sink(
    name: str,
    connector: str,
    options: Mapping[str, Any],
    *,
    query: str,
    state: State,
    keep: int,
    show: Callable[[str], None],
    folders: Sequence[str],
) -> Sink:
    """The sink that a declaration asks for; raises RuntimeFault when it cannot be had."""
    owner, rest = f"sink `{name}`", dict(options)
    role = choose(connector, SINKS, owner, "connector")
    key, upsert = take_key(owner, rest)
    if upsert is not None and not role.promise.upserts:
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} asks for upserts, which connector `{connector}` can't do",
            f"these can: {', '.join(one for one, known in SINKS.items() if known.promise.upserts)}",
        )
    if key and not role.promise.upserts:
        refuse_rest(owner, {"key": key})
    sink = role.writer(SinkRequest(name, query, rest, key, upsert, state, keep, show, folders))
    refuse_rest(owner, rest)
    return sink
