"""Sinks: what becomes of the batches of a relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...contracts.sinks import SINKS
from ..base.errors import BAD_OPTION, RuntimeFault
from ..base.modules import load_function
from ..base.options import choose, refuse_rest
from ..state.state import State
from .file_sink import FileSink
from .kafka import KafkaSink
from .postgres import PostgresSink
from .upserts import Upsert, take_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


_FORM = "def {name}(batch: DataFrame, batch_id: int) -> None"


class Sink(Protocol):
    """One sink of a relation. `write` returns the rows it got, None if it cannot say.

    It is opened in three steps, see `open_sinks`: `check` raises RuntimeFault when it cannot be,
    and changes nothing; `claim` notes whose the output is; `open` makes the output what the state
    says it is.
    `reads_batch_once` is whether `write` reads all of the batch, in one Spark job.
    With an `upsert` it is given one row of each key: the latest. `acknowledged` says more of the
    last batch, as numbers that a barrier notes.
    """

    name: str
    reads_batch_once: bool

    @property
    def upsert(self) -> Upsert | None: ...

    def check(self) -> None: ...

    def claim(self) -> None: ...

    def open(self) -> None: ...

    def acknowledged(self) -> Mapping[str, int]: ...

    def write(self, batch: DataFrame, batch_id: int) -> int | None: ...


def open_sinks(sinks: Sequence[Sink], state: State) -> None:
    """Opens the sinks of a run: nothing is cut before all of them have been checked and claimed."""
    for sink in sinks:
        sink.check()
    state.begin_turn()
    for sink in sinks:
        sink.claim()
    for sink in sinks:
        sink.open()


class UnownedSink:
    """A sink without an output that somebody could own."""

    def check(self) -> None:
        """There is nothing to look at."""

    def claim(self) -> None:
        """There is nothing to own."""

    def open(self) -> None:
        """It needs no preparation."""

    def acknowledged(self) -> Mapping[str, int]:
        return {}


class MemorySink(UnownedSink):
    """Keeps the rows of this run in `rows`, in the order of the batches.

    With an upsert, a row takes the place of the one with its key, unless that is later.
    """

    def __init__(self, name: str, upsert: Upsert | None) -> None:
        self.name = name
        self.reads_batch_once = upsert is None
        self.upsert = upsert
        self._kept: dict[object, Row] = {}

    @property
    def rows(self) -> list[Row]:
        return list(self._kept.values())

    def open(self) -> None:
        self._kept.clear()

    def write(self, batch: DataFrame, batch_id: int) -> int:
        found = batch.collect()
        if self.upsert is None:
            self._kept.update(enumerate(found, start=len(self._kept)))
            return len(found)
        for row in found:
            key = self.upsert.key_of(row)
            known = self._kept.get(key)
            if known is None or self.upsert.replaces(row, known):
                self._kept[key] = row
        return len(found)


class ConsoleSink(UnownedSink):
    """Prints the first rows of every batch that has any."""

    reads_batch_once = False
    upsert = None

    def __init__(self, name: str, rows: int, show: Callable[[str], None]) -> None:
        self.name = name
        self._rows = rows
        self._show = show

    def write(self, batch: DataFrame, batch_id: int) -> None:
        if not batch.isEmpty():
            table = batch._show_string(self._rows, truncate=False)  # type: ignore[operator]
            self._show(f"{self.name}, batch {batch_id}:\n{table.rstrip()}")


class PythonSink(UnownedSink):
    """Calls a function of the user's with every batch and its id.

    After a restart the function may get a batch a second time, with the same id and rows.
    """

    reads_batch_once = False

    def __init__(
        self, name: str, function: str, folders: Sequence[str], upsert: Upsert | None
    ) -> None:
        self.name = name
        self.upsert = upsert
        self._call = load_function(function, f"sink `{name}`", folders, _FORM)

    def write(self, batch: DataFrame, batch_id: int) -> None:
        self._call(batch, batch_id)


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
    rest = dict(options)
    key, upsert = take_key(f"sink `{name}`", rest)
    known: dict[str, Callable[[], Sink]] = {
        "files": lambda: FileSink(name, query, options, state, keep),
        "kafka": lambda: KafkaSink(name, rest, state, key, upsert),
        "postgres": lambda: PostgresSink(name, query, rest, state, upsert),
        "console": lambda: ConsoleSink(name, int(rest.pop("rows", 20)), show),
        "memory": lambda: MemorySink(name, upsert),
        "python": lambda: PythonSink(name, str(rest.pop("function")), folders, upsert),
    }
    promise = choose(connector, SINKS, f"sink `{name}`", "connector")
    if upsert is not None and not promise.upserts:
        raise RuntimeFault(
            BAD_OPTION,
            f"sink `{name}` asks for upserts, which connector `{connector}` can't do",
            f"these can: {', '.join(one for one, told in SINKS.items() if told.upserts)}",
        )
    sink = known[connector]()
    if connector != "files":
        refuse_rest(f"sink `{name}`", rest)
    return sink
