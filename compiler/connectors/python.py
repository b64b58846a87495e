"""A Python function that gets each batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...contracts.sinks import SINKS
from .interface import Connector, InProcessSink
from .options import FUNCTION, Concern, Option


class PythonSink(InProcessSink):
    """A function that is called with each batch."""

    options = (
        Option(
            "function",
            Concern.PLACE,
            "what is called with a DataFrame and the number of the batch",
            kind=FUNCTION,
            required=True,
        ),
    )
    promise = SINKS["python"]
    takes_changes = True


class Python(Connector):
    """Code of the pipeline's own."""

    name = "python"
    source = None
    table = None
    sink = PythonSink()
    elsewhere: ClassVar[Mapping[str, str]] = {
        "foreachbatch": "write `connector = 'python', function = 'module:name'`"
    }
