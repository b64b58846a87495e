"""The console: the first rows of each batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink
from .options import INTEGER, Concern, Option


class ConsoleSink(InProcessSink):
    """Prints rows."""

    options = (
        Option(
            "rows", Concern.RUN, "how many rows of a batch are printed", kind=INTEGER, default="20"
        ),
    )
    promise = SINKS["console"]
    takes_changes = True


class Console(Connector):
    """The console."""

    name = "console"
    source = None
    table = None
    sink = ConsoleSink()
    elsewhere: ClassVar[Mapping[str, str]] = {"print": "write `connector = 'console'`"}
