"""What connectors say of themselves."""

from __future__ import annotations

import pytest
from streamc.compiler.model import connectors
from streamc.contracts.sinks import SINKS

GUARANTEES = ("exactly once", "effectively once", "at least once")


@pytest.mark.parametrize("name", SINKS)
def test_a_sink_says_what_it_promises(name: str) -> None:
    assert SINKS[name].delivery.startswith(GUARANTEES)


def test_every_sink_has_a_promise() -> None:
    assert connectors.SINKS.keys() == SINKS.keys()


@pytest.mark.parametrize("sink", connectors.SINKS.values(), ids=lambda sink: sink.name)
def test_a_sink_can_be_asked_for_upserts_if_it_promises_them(sink: connectors.Connector) -> None:
    (mode,) = (option for option in sink.options if option.name == "mode")
    assert (connectors.UPSERT in mode.choices) == SINKS[sink.name].upserts
