"""What connectors say of themselves."""

from __future__ import annotations

import pytest
from streamc.compiler.connectors import registry
from streamc.contracts.sinks import SINKS

GUARANTEES = ("exactly once", "effectively once", "at least once")


@pytest.mark.parametrize("name", SINKS)
def test_a_sink_says_what_it_promises(name: str) -> None:
    assert SINKS[name].delivery.startswith(GUARANTEES)


def test_every_promise_has_a_sink() -> None:
    assert registry.SINKS.keys() == SINKS.keys()
