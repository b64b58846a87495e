"""Nowhere: rows are computed, counted and thrown away, for benchmarks and load tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink
from .options import Option


class DiscardSink(InProcessSink):
    """Where rows end that only their computation is wanted of."""

    options: tuple[Option, ...] = ()
    promise = SINKS["discard"]
    takes_changes = True


class Discard(Connector):
    """Nowhere."""

    name = "discard"
    source = None
    table = None
    sink = DiscardSink()
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("blackhole", "noop", "null", "devnull"), "write `connector = 'discard'`"
    )
