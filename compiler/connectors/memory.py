"""The memory of a run, for programs that run a pipeline and read its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink
from .options import Option


class MemorySink(InProcessSink):
    """Keeps rows for the caller of a run."""

    options: tuple[Option, ...] = ()
    promise = SINKS["memory"]
    takes_changes = True


class Memory(Connector):
    """The memory of a run."""

    name = "memory"
    source = None
    table = None
    sink = MemorySink()
    elsewhere: ClassVar[Mapping[str, str]] = {}
