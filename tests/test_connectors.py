"""The tables of connectors: what they say of themselves."""

from __future__ import annotations

import pytest
from streamc.compiler.model.connectors import SINKS, Connector

GUARANTEES = ("exactly once", "effectively once", "at least once")


@pytest.mark.parametrize("sink", SINKS.values(), ids=lambda sink: sink.name)
def test_a_sink_says_what_it_promises(sink: Connector) -> None:
    assert sink.promise.startswith(GUARANTEES), sink.promise
