"""The memory of a run, for programs that call a pipeline and look at what it gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink
from .options import Option


class MemorySink(InProcessSink):
    """Where a run keeps rows for whoever called it."""

    options: tuple[Option, ...] = ()
    promise = SINKS["memory"]
    takes_changes = True


class Memory(Connector):
    """The memory of a run."""

    name = "memory"
    source = None
    table = None
    sink = MemorySink()
    elsewhere: ClassVar[Mapping[str, str]] = {
        "blackhole": "write `connector = 'memory'`, or leave out the sink"
    }
