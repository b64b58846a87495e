"""Sinks: what becomes of the batches of a relation."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from .errors import FUNCTION_MISSING, RuntimeFault
from .file_sink import FileSink
from .sources import choose, refuse_rest
from .state import State

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


class Sink(Protocol):
    """One sink of a relation. `write` returns the rows it got, None if it cannot say.

    `reads_batch_once` is whether `write` reads all of the batch, in one Spark job.
    """

    name: str
    reads_batch_once: bool

    def open(self) -> None: ...

    def write(self, batch: DataFrame, batch_id: int) -> int | None: ...


class MemorySink:
    """Keeps every row of this run in `rows`, in the order of the batches."""

    reads_batch_once = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[Row] = []

    def open(self) -> None:
        self.rows.clear()

    def write(self, batch: DataFrame, batch_id: int) -> int:
        found = batch.collect()
        self.rows.extend(found)
        return len(found)


class ConsoleSink:
    """Prints the first rows of every batch that has any."""

    reads_batch_once = False

    def __init__(self, name: str, rows: int, show: Callable[[str], None]) -> None:
        self.name = name
        self._rows = rows
        self._show = show

    def open(self) -> None:
        """A console needs no preparation."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        if not batch.isEmpty():
            table = batch._show_string(self._rows, truncate=False)  # type: ignore[operator]
            self._show(f"{self.name}, batch {batch_id}:\n{table.rstrip()}")


class PythonSink:
    """Calls a function of the user's with every batch and its id.

    After a restart the function may get a batch a second time, with the same id and rows.
    """

    reads_batch_once = False

    def __init__(self, name: str, function: str, folders: Sequence[str]) -> None:
        self.name = name
        self._call = load_function(function, name, folders)

    def open(self) -> None:
        """A function needs no preparation."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        self._call(batch, batch_id)


def make_sink(
    name: str,
    connector: str,
    options: Mapping[str, Any],
    *,
    state: State,
    keep: int,
    show: Callable[[str], None],
    folders: Sequence[str],
) -> Sink:
    """The sink that a declaration asks for; raises RuntimeFault when it cannot be had."""
    rest = dict(options)
    known: dict[str, Callable[[], Sink]] = {
        "files": lambda: FileSink(name, options, state, keep),
        "console": lambda: ConsoleSink(name, int(rest.pop("rows", 20)), show),
        "memory": lambda: MemorySink(name),
        "python": lambda: PythonSink(name, str(rest.pop("function")), folders),
    }
    sink = choose(connector, known, f"sink `{name}`", "connector")()
    if connector != "files":
        refuse_rest(f"sink `{name}`", rest)
    return sink


def load_function(target: str, sink: str, folders: Sequence[str]) -> Callable[..., object]:
    """`module:name`, looked for in the folders before the rest of the path."""
    module, colon, name = target.partition(":")
    if not colon:
        raise RuntimeFault(
            FUNCTION_MISSING,
            f"sink `{sink}`: `{target}` is not `module:name`",
            "write `function = 'module:name'`",
        )
    with _first_on_path(folders):
        try:
            function = getattr(importlib.import_module(module), name, None)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise RuntimeFault(
                FUNCTION_MISSING,
                f"sink `{sink}`: there is no module `{module}`",
                f"put {module}.py into one of: {', '.join(folders)}",
            ) from None
    if not callable(function):
        raise RuntimeFault(
            FUNCTION_MISSING,
            f"sink `{sink}`: module `{module}` has no function `{name}`",
            "define it as `def {name}(batch: DataFrame, batch_id: int) -> None`",
        )
    return function  # type: ignore[no-any-return]


@contextmanager
def _first_on_path(folders: Sequence[str]) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before
