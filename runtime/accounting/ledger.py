"""The ledger of one query's batch: what happened to its rows, and the identities that must hold.

The counts are those of the plan that Spark ran (`kernel/ledger`) and of the runtime's own readers.
Nothing is added to the plan for them. Each entry of a ledger is a source or a stateful operator of
the query; filters count for the entry whose rows they dropped.

An identity relates independent counters, so that rows lost between them are detected. Terms are
rows unless stated otherwise:

- *source* of lines: records read = rows given + malformed + blank; a reading of the malformed rows
  gives as many as there are malformed. For other formats Spark counts only the rows that it gave:
  rows of parquet and orc that it skips by the statistics of a file were not read at all.
- *messages*: malformed + blank <= rows dropped by the filter after their reading; a filter of the
  pipeline may have become part of it.
- *filter*: never gives more rows than it got. What it dropped is `filtered`; of these
  `filtered_null` lack an event time, key or NOT NULL column, or have no window within time, and
  `filtered_future` are those of ON FUTURE ROWS, as far as Spark has not merged several filters.
- *shuffle*: rows given by the operators below = rows written = rows read by the operator above.
- *python*: rows given to functions = rows that came back.
- *dedup*: in = late + duplicates + out; state entries: held = held before + out - expired.
- *aggregate* and *topn*: Spark merges the rows of a batch before it looks at state, so that `late`
  counts groups (a key and window in this batch), as `groups` does: groups = late + updated, and in
  state: held = held before + created - expired, where created = updated - found there; in append
  mode out = expired, in update mode out = updated. What was merged has no counter.
- *session*: as above, but late sessions are dropped before the merge. In state, of the keys that
  a batch has: held = held before + sessions after the merge - sessions before it - expired, where
  expired = out.
- *join*: rows in of both sides >= late + added. The rest need not be kept: they can no longer
  match, or their match is already there. In state: held = held before + added - expired for an
  inner join; for an outer join Spark does not count the rows that leave on the outer side, so that
  held <= held before + added - expired. The output are pairs, with no identity to the input.
- *program*: in = late + arrived, as the program itself counts; what has arrived and is not handled
  waits for the watermark. Its output has no identity to these.
- *sink*: rows of the query's plan = rows counted in the written batch.

The output of a lookup, a window of several panes or a generator has no identity; `fanned` is how
many more or fewer rows there are after it. Parts of a plan without counters, and operators of other
kinds, are listed as unaccounted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...contracts.notes.ledger import Entry, LeakNote, LedgerNote
from ..kinds.counts import Counts, Equation
from .remarks import OddInstant

LAST = ("held",)
"""Counts that describe a state: of several batches the last one counts."""


_UNACCOUNTED = "!unaccounted"


@dataclass(frozen=True, slots=True)
class Leak:
    """An identity that does not hold: where, in which batch, and its terms."""

    query: str
    batch: int
    place: str
    identity: str

    def __str__(self) -> str:
        return f"`{self.query}`, batch {self.batch}, {self.place}: not {self.identity}"

    def note(self) -> LeakNote:
        """The leak as it is written."""
        return LeakNote(self.batch, self.place, self.identity)


@dataclass(slots=True)
class BatchLedger:
    """The entries of one batch of a query by the names of sources and ids of operators.

    `recounted` is whether work of the batch was done twice and so counted twice, in which case the
    identities do not apply. `unaccounted` are parts of the plan without counters. `odd` are numbers
    in its input to warn about; they are not written.
    """

    query: str
    batch: int
    entries: dict[str, Counts] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)
    odd: list[OddInstant] = field(default_factory=list)
    rows: int | None = None
    recounted: bool = False

    def note(self) -> LedgerNote:
        """The ledger as it is written."""
        return LedgerNote(
            self.query,
            self.batch,
            self.entries,
            unaccounted=tuple(self.unaccounted),
            recounted=self.recounted,
            leaks=tuple(leak.note() for leak in check(self)),
        )


def check(ledger: BatchLedger) -> list[Leak]:
    """The identities that do not hold; none for a batch whose work was done twice."""
    if ledger.recounted:
        return []
    return [
        Leak(ledger.query, ledger.batch, equation.place, str(equation))
        for equation in ledger.equations
        if not equation.holds
    ]


def count_sink(ledger: BatchLedger, rows: int | None) -> None:
    """Adds how many rows were counted when the batch was written."""
    if ledger.rows is not None and rows is not None:
        given, found = {"given": ledger.rows}, {"written": rows}
        ledger.equations.append(Equation("the sinks", given, found))


def total(ledgers: Iterable[Mapping[str, Entry]]) -> dict[str, Counts]:
    """The entries of several batches, oldest first, as one: counts are summed, states the last."""
    found: dict[str, Counts] = {}
    for entries in ledgers:
        for name, entry in entries.items():
            known = found.setdefault(name, {})
            for term, value in entry.items():
                adds = isinstance(value, int) and term not in LAST and term in known
                known[term] = known[term] + value if adds else value
    return found


def rows_read(entries: Mapping[str, Entry]) -> int | None:
    """The rows from all sources; None when some have no entry."""
    if _UNACCOUNTED in entries:
        return None
    sources = [entry for entry in entries.values() if entry.get("kind") == "source"]
    return sum(int(entry["in"]) for entry in sources) if sources else None


def remarks(notes: Sequence[LedgerNote]) -> dict[str, Counts]:
    """Further findings about several batches, as entries with unique names."""
    leaks = [leak for note in notes for leak in note.leaks]
    parts = [part for note in notes for part in note.unaccounted]
    found: dict[str, Counts] = {}
    if leaks:
        first = leaks[0]
        told = f"batch {first.batch}, {first.place}: not {first.identity}"
        found["!leaks"] = {"kind": "leaks", "leaks": len(leaks), "first": told}
    if parts:
        names = ", ".join(dict.fromkeys(parts))
        found[_UNACCOUNTED] = {"kind": "unaccounted", "parts": names}
    return found


def shown(entry: Entry) -> str:
    """An entry as a line: `dedup: 8 in, 5 out, 3 duplicates, 5 held`; zeros are left out."""
    always = ("in", "out")
    parts = [
        f"{value:,} {term.replace('_', ' ')}"
        for term, value in entry.items()
        if isinstance(value, int) and (value or term in always)
    ]
    told = [str(value) for term, value in entry.items() if term in ("first", "parts")]
    return f"{entry['kind']}: {', '.join([*parts, *told])}"
