"""The ledgers of a query from batch to batch: built, checked, written, summed.

A batch's ledger is written before Spark commits the batch: when the job is killed in between, the
batch runs again and its ledger replaces the old one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...contracts.notes.ledger import Entry, LedgerNote
from ..base.errors import ROWS_LOST, RuntimeFault, first_line
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


class Shelf(Protocol):
    """Where the ledgers of one query are kept."""

    def put(self, note: LedgerNote) -> None: ...

    def get(self, batch: int) -> LedgerNote | None: ...


class MemoryShelf:
    """Ledgers of a run whose state is not kept."""

    def __init__(self) -> None:
        self._kept: dict[int, LedgerNote] = {}

    def put(self, note: LedgerNote) -> None:
        self._kept[note.batch] = note

    def get(self, batch: int) -> LedgerNote | None:
        return self._kept.get(batch)


class StateShelf:
    """Ledgers as notes of a state, `ledger/<query>/<batch>.json` in the current generation."""

    def __init__(self, state: State, query: str) -> None:
        self._state = state
        self._query = query

    def put(self, note: LedgerNote) -> None:
        """Writes a note; on this machine's disk, without waiting for the disk.

        So it outlives the process. When the machine crashes, Spark's files of the batch, which are
        not waited for either, are lost with it.
        """
        path, document = ledger_path(self._state, self._query, note.batch), note.to_json()
        local = self._state.storage.local_path(path)
        if local is None:
            write_note(self._state.storage, path, document)
        else:
            make_folders(local.parent)
            written = local.with_name(f".{local.name}.tmp")
            with open_new(written) as out:
                out.write(seal(document).encode())
            written.replace(local)

    def get(self, batch: int) -> LedgerNote | None:
        """A stored ledger; one that is none counts nothing, and no result depends on it."""
        found = read_note(self._state.storage, ledger_path(self._state, self._query, batch))
        try:
            return None if found is None else LedgerNote.from_json(found)
        except ValueError:
            return None


class Books:
    """The ledgers of one query of a run.

    With `strict` a leak ends the query before the batch is committed; else `tell` gets a line, one
    per place until `forget` is called. `observe` gets the warnings about the input of a batch,
    `recorded` each ledger that was written.
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
        recorded: Callable[[LedgerNote], None] = lambda note: None,
    ) -> None:
        self._query = query
        self._kernel = kernel
        self._shelf = shelf
        self._strict = strict
        self._tell = tell
        self._observe = observe
        self._recorded = recorded
        self._operators = [(use.operator.id, use.operator.KIND) for use in uses]
        self._written: dict[int, LedgerNote] = {}
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
        note = ledger.note()
        self._shelf.put(note)
        self._written[number] = note
        self._recorded(note)
        for leak in leaks:
            self._warn(leak.place, f"rows are not accounted for: {leak}")
        return rows_read({**ledger.entries, **remarks([note])})

    def collect(self, after: int, up_to: int) -> Mapping[str, Entry]:
        """The summed entries of the batches after one, up to another.

        Leaks and unaccounted parts have entries of their own, if there are any.
        """
        known = [self._note(number) for number in range(after + 1, up_to + 1)]
        notes = [note for note in known if note is not None]
        return {**total(note.entries for note in notes), **remarks(notes)}

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
        reason = f"Spark's plan is not of the expected form ({first_line(error)})"
        self._warn("", f"the rows of `{self._query}` are not accounted for: {reason}")
        return BatchLedger(self._query, number, unaccounted=[reason])

    def _held(self, batch: int) -> Mapping[str, int] | None:
        """What each operator held after a batch; None if unknown."""
        if batch < 0:
            return {}
        note = self._note(batch)
        if note is None:
            return None
        return {name: entry["held"] for name, entry in note.entries.items() if "held" in entry}

    def _note(self, batch: int) -> LedgerNote | None:
        found = self._written.get(batch)
        return found if found is not None else self._shelf.get(batch)

    def _warn(self, place: str, text: str) -> None:
        if place not in self._told:
            self._told.add(place)
            self._tell(text)


def leak_fault(leaks: list[Leak]) -> RuntimeFault:
    """The fault for a batch that lost or invented rows."""
    return RuntimeFault(
        ROWS_LOST,
        "\n".join(str(leak) for leak in leaks),
        "this is a bug of the runtime or of Spark, not of the pipeline: please report it",
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
