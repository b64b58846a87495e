"""The ledgers of a query from batch to batch: built, checked, written, summed.

A batch's ledger is written before Spark commits the batch: when the job is killed in between, the
batch runs again and its ledger replaces the old one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..base.errors import ROWS_LOST, RuntimeFault, first_line
from ..base.fields import Fields
from ..base.private_files import make_folders, open_new
from ..kinds.counts import PlanNode
from ..plan.plan import OperatorUse
from ..spark.failures import spark_errors
from ..storage.notes import read_note, seal, write_note
from .ledger import BatchLedger, Leak, check, count_sink, remarks, rows_read, total
from .plan_counts import read_counts
from .remarks import OddInstant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..state.state import State

Document = Mapping[str, Any]


class Shelf(Protocol):
    """Where the ledgers of one query are kept."""

    def put(self, batch: int, document: dict[str, Any]) -> None: ...

    def get(self, batch: int) -> Document | None: ...


class MemoryShelf:
    """Ledgers of a run whose state is not kept."""

    def __init__(self) -> None:
        self._kept: dict[int, Document] = {}

    def put(self, batch: int, document: dict[str, Any]) -> None:
        self._kept[batch] = document

    def get(self, batch: int) -> Document | None:
        return self._kept.get(batch)


class StateShelf:
    """Ledgers as notes of a state, `ledger/<query>/<batch>.json` in the current generation."""

    def __init__(self, state: State, query: str) -> None:
        self._state = state
        self._query = query

    def put(self, batch: int, document: dict[str, Any]) -> None:
        """Writes a note; on this machine's disk, without waiting for the disk.

        So it outlives the process. When the machine crashes, Spark's files of the batch, which are
        not waited for either, are lost with it.
        """
        path = ledger_path(self._state, self._query, batch)
        local = self._state.storage.local_path(path)
        if local is None:
            write_note(self._state.storage, path, document)
        else:
            make_folders(local.parent)
            written = local.with_name(f".{local.name}.tmp")
            with open_new(written) as out:
                out.write(seal(document).encode())
            written.replace(local)

    def get(self, batch: int) -> Document | None:
        """A stored ledger; an unreadable one counts nothing, and no result depends on it."""
        found = read_note(self._state.storage, ledger_path(self._state, self._query, batch))
        return found if found is None or _is_ledger(found) else None


class Books:
    """The ledgers of one query of a run.

    With `strict` a leak ends the query before the batch is committed; else `tell` gets a line, one
    per place until `forget` is called. `observe` gets the warnings about the input of a batch.
    """

    def __init__(
        self,
        query: str,
        uses: Sequence[OperatorUse],
        kernel: Any,
        shelf: Shelf,
        *,
        strict: bool,
        tell: Callable[[str], None],
        observe: Callable[[Sequence[OddInstant]], None] = lambda found: None,
    ) -> None:
        self._query = query
        self._kernel = kernel
        self._shelf = shelf
        self._strict = strict
        self._tell = tell
        self._observe = observe
        self._operators = [(use.operator.id, use.operator.KIND) for use in uses]
        self._written: dict[int, Document] = {}
        self._told: set[str] = set()

    def close(self, batch: DataFrame, number: int, rows: int | None, started: float) -> int | None:
        """Writes the ledger of a batch that has been computed and written.

        `rows` is how many the sinks received, if that was counted, `started` when the first of them
        began (seconds since 1970). Returns how many were read, None if unknown. Raises RuntimeFault
        for a leak if the run is strict.
        """
        ledger = self._read(batch, number)
        if ledger.odd:
            self._observe(ledger.odd)
        count_sink(ledger, rows)
        if check(ledger):
            from_ = int(started * 1000)
            ledger.recounted = bool(self._kernel.Ledger.mayHaveCountedTwice(batch._jdf, from_))
        leaks = check(ledger)
        if leaks and self._strict:
            raise leak_fault(leaks)
        document = ledger.document()
        self._shelf.put(number, document)
        self._written[number] = document
        for leak in leaks:
            self._warn(leak.place, f"rows are not accounted for: {leak}")
        return rows_read({**ledger.entries, **remarks([document])})

    def collect(self, after: int, up_to: int) -> dict[str, Any]:
        """The summed entries of the batches after one, up to another.

        Leaks and unaccounted parts have entries of their own, if there are any.
        """
        known = [self._document(number) for number in range(after + 1, up_to + 1)]
        documents = [document for document in known if document is not None]
        return {**total(documents), **remarks(documents)}

    def forget(self, batch: int) -> None:
        """Drops the batches before this one from memory; warnings may be repeated."""
        for number in [number for number in [*self._written] if number < batch]:
            del self._written[number]
        self._told.clear()

    def _read(self, batch: DataFrame, number: int) -> BatchLedger:
        from .python_counts import fill_in

        try:
            found = json.loads(self._kernel.Ledger.of(batch._jdf))
            fill_in(found)
            plan = list(map(PlanNode.from_json, found))
            before = self._held(number - 1)
            return read_counts(self._query, number, plan, self._operators, before)
        except spark_errors() as error:
            return self._unread(number, error)
        except (LookupError, ValueError, TypeError) as error:
            return self._unread(number, error)

    def _unread(self, number: int, error: Exception) -> BatchLedger:
        """The ledger of a batch whose plan is not understood, which is no reason to stop."""
        if self._strict:
            raise error
        reason = f"Spark's plan has another form than was expected ({first_line(error)})"
        self._warn("", f"the rows of `{self._query}` are not accounted for: {reason}")
        return BatchLedger(self._query, number, unaccounted=[reason])

    def _held(self, batch: int) -> Mapping[str, int] | None:
        """What each operator held after a batch; None if unknown."""
        if batch < 0:
            return {}
        document = self._document(batch)
        if document is None:
            return None
        return {name: e["held"] for name, e in document["entries"].items() if "held" in e}

    def _document(self, batch: int) -> Document | None:
        found = self._written.get(batch)
        return found if found is not None else self._shelf.get(batch)

    def _warn(self, place: str, text: str) -> None:
        if place not in self._told:
            self._told.add(place)
            self._tell(text)


def _is_ledger(document: Document) -> bool:
    found = Fields(document)
    try:
        entries = found.each("entries", lambda entry: (entry.text("kind"), entry.get("held")))
        for leak in found.items("leaks") if found.get("leaks") is not None else ():
            leak.whole("batch"), leak.text("place"), leak.text("identity")
        if found.get("unaccounted") is not None:
            found.texts("unaccounted")
    except ValueError:
        return False
    return all(held is None or isinstance(held, int) for _, held in entries.values())


def leak_fault(leaks: list[Leak]) -> RuntimeFault:
    """The fault for a batch that lost or invented rows."""
    return RuntimeFault(
        ROWS_LOST,
        "\n".join(str(leak) for leak in leaks),
        "this is a mistake of the runtime or of Spark, not of the pipeline: please report it",
    )


def ledger_path(state: State, query: str, batch: int) -> str:
    """The path of a batch's ledger."""
    return f"{state.generation_folder}/ledger/{query}/{batch:09d}.json"


def forget(state: State, query: str, before: int) -> None:
    """Removes the ledgers of the batches before this one."""
    folder = f"{state.generation_folder}/ledger/{query}"
    names = [name for name in state.storage.list(folder) if name.endswith(".json")]
    old = [name for name in names if int(name.removesuffix(".json")) < before]
    state.storage.delete([f"{folder}/{name}" for name in old])
