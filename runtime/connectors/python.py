"""A function in Python that gets each batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...contracts.sinks import SINKS
from ..base.modules import load_function
from .interface import Connector, InProcessSink, SinkRequest, UnownedSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FORM = "def {name}(batch: DataFrame, batch_id: int) -> None"


class PythonSink(UnownedSink):
    """Calls a function of the user's with every batch and its id.

    After a restart the function may get a batch a second time, with the same id and rows.
    """

    reads_batch_once = False
    runs_users_code = True

    def __init__(self, asked: SinkRequest) -> None:
        self.name = asked.name
        self.upsert = asked.upsert
        function = str(asked.options.pop("function"))
        self._call = load_function(function, asked.owner, asked.folders, _FORM)

    def write(self, batch: DataFrame, batch_id: int) -> None:
        self._call(batch, batch_id)

    def kept_rows(self) -> None:
        """The function has them."""


class PythonSinkRole(InProcessSink):
    """A function that is called with each batch."""

    promise = SINKS["python"]
    writer = PythonSink


class Python(Connector):
    """A function in Python."""

    name = "python"
    source = None
    table = None
    sink = PythonSinkRole()
