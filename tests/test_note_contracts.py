"""Notes and manifests as earlier versions have written them: read into classes, written alike."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamc.contracts.json_records import Malformed, Record
from streamc.contracts.notes.answer import Answer
from streamc.contracts.notes.barrier import Manifest
from streamc.contracts.notes.epoch import EpochNote
from streamc.contracts.notes.generation import CountedGeneration, Generation, Origin
from streamc.contracts.notes.home import HomeNote
from streamc.contracts.notes.identity import StateIdentity
from streamc.contracts.notes.lease import LeaseNote
from streamc.contracts.notes.ledger import LedgerNote
from streamc.contracts.notes.marks import Mark
from streamc.contracts.notes.status import (
    LastBarrier,
    OperatorProgress,
    QueryProgress,
    Stall,
    StatusNote,
)
from streamc.contracts.savepoint import SavedOperator, SavedQuery, SavedTable, Savepoint
from streamc.runtime.storage.notes import seal, unseal

OLD_STATES = sorted((Path(__file__).parent / "old_states").glob("*/*"))
KINDS: Mapping[str, type[Record]] = {
    "generation.json": Generation,
    "state.json": StateIdentity,
    "home.json": HomeNote,
    "status.json": StatusNote,
    "manifest.json": Savepoint,
}
NOW = datetime(2026, 1, 1, 10, tzinfo=UTC)
MARK = Mark("spend", "sum(v)", "it begins", "2026-01-01T00:00:00+00:00", 5, None)


def texts(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Yield the files of states and savepoints by their names in them."""
    for path in OLD_STATES:
        if path.name.endswith(suffixes):
            with tarfile.open(path) as tar:
                for member in tar:
                    held = tar.extractfile(member)
                    if held is not None and member.name.endswith(".json"):
                        yield member.name, held.read().decode()


def test_notes_of_earlier_versions_are_written_alike() -> None:
    found = set()
    for name, text in texts(".tar.gz", ".savepoint"):
        kind = KINDS.get(name.rpartition("/")[2])
        if kind is not None:
            found.add(kind)
            assert seal(kind.from_json(unseal(text)).to_json()) == text, name
    assert found == set(KINDS.values())


def test_barriers_of_earlier_versions_are_written_alike() -> None:
    found = [text for name, text in texts(".tar.gz") if "/barriers/" in name]
    assert found
    for text in found:
        assert seal(Manifest.from_json(unseal(text)).to_json()) == text


def test_epochs_of_earlier_versions_are_read() -> None:
    found = [text for name, text in texts(".tar.gz") if "/epochs/" in name]
    assert found
    for text in found:
        document = unseal(text)
        assert EpochNote.from_json(document).to_json() == document


def test_ledgers_of_earlier_versions_are_written_alike() -> None:
    found = [text for name, text in texts(".tar.gz") if "/ledger/" in name]
    assert found
    for text in found:
        assert seal(LedgerNote.from_json(unseal(text)).to_json()) == text


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"in": 3}, "its `entries.spend.kind` is not a text"),
        ({"kind": "dedup", "held": "x"}, "its `entries.spend.held` is not a whole number"),
    ],
)
def test_an_entry_that_is_none(entry: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(Malformed) as raised:
        LedgerNote.from_json({"query": "q", "batch": 4, "entries": {"spend": entry}})
    assert str(raised.value) == reason


def savepoint() -> Savepoint:
    table = SavedTable("state", {"card": "string"}, 3, {"state/q/o/state/part-0": (12, "0a")})
    operator = SavedOperator("o", "aggregate", ("card",), ("sum(v)",), {"state": table})
    return Savepoint(
        *("cut", NOW, "p", 1, 7, 9, "0001", "s", "4.2.1"),
        sources={"payments": {"logOffset": 4}, "rates": None},
        queries={"q": SavedQuery(4, 1, 2, ("out",), {"o": operator}, counted_as="q")},
        lineage=(CountedGeneration("0001", {"q": 4}, apart=True),),
        marks=(MARK,),
        logs={"sources/payments/0": (3, "ff")},
        plan=plan(),
    )


def plan() -> Any:
    (text,) = {text for name, text in texts(".savepoint") if name.endswith("manifest.json")}
    return Savepoint.from_json(unseal(text)).plan


def status() -> StatusNote:
    operator = OperatorProgress("o", "aggregate", None, 3)
    query = QueryProgress("q", 4, 10, 2, 0.0, float("inf"), None, None, (operator,), True)
    last, stall = LastBarrier(7, 9, NOW, 210), Stall(42.5, "nothing moves", False)
    return StatusNote("r", NOW, 1, "0001", "running", 12, last, 25.0, (query,), stalled=stall)


def lease() -> LeaseNote:
    return LeaseNote("r", 12, "h", None, {"12": "1"}, "2026", "2026", 30.0)


NOTES: Mapping[str, Callable[[], Record]] = {
    "savepoint": savepoint,
    "generation": lambda: Generation(
        "0002", Origin("0001", 3, 9, savepoint="cut"), (), (MARK,), made_at=NOW
    ),
    "epoch": lambda: EpochNote(4, {"payments": None}, opened_at="2026"),
    "answer": lambda: Answer("ended", barrier=3, epoch=9),
    "home": lambda: HomeNote("/s", host="h", inode=4, turns=("t",), copy_of=()),
    "lease": lease,
    "status": status,
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES)
def test_what_is_written_is_read_again(note: Callable[[], Record]) -> None:
    written = json.loads(json.dumps(note().to_json()))
    assert type(note()).from_json(written) == note()


def test_fields_that_earlier_versions_lack_are_written() -> None:
    document = savepoint().to_json()
    assert (document["spec"], document["queries"]["q"]["counted_as"]) == (None, "q")
    del document["spec"], document["marks"], document["queries"]["q"]["counted_as"]
    found = Savepoint.from_json(json.loads(json.dumps(document)))
    assert (found.spec, found.marks, found.queries["q"].counted_as) == (None, (), None)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("made_at", "yesterday", "its `made_at` is not an instant"),
        ("made_at", "2026-01-01T00:00:00", "its `made_at` is not an instant"),
        ("barrier", -1, "its `barrier` is not a number of at least 0"),
        ("version", 2**63, "its `version` is not a whole number of 64 bits"),
        ("logs", {"../x": [1, "00"]}, "its `logs` is not a list of files"),
        ("logs", {"sources/x/0": [-1, "00"]}, "its `logs` is not a list of files"),
        ("logs", {"sources/x/0": [1]}, "its `logs.sources/x/0` is not a list of 2 values"),
        ("logs", {"sources/x/0": ["1", "00"]}, "its `logs.sources/x/0` is not a whole number"),
        ("lineage", [{"generation": "1", "batches": {"q": -2}}], "its `lineage[0].batches.q` is"),
        ("marks", [{**MARK.to_json(), "since": "x"}], "its `marks[0].since` is not an instant"),
        ("queries", {"q": {}}, "its `queries.q.batch` is missing"),
    ],
)
def test_damage_is_found_where_it_is(path: str, value: object, reason: str) -> None:
    document = json.loads(json.dumps(savepoint().to_json()))
    with pytest.raises(Malformed) as raised:
        Savepoint.from_json({**document, path: value})
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("note", "path", "value", "reason"),
    [
        ("home", "format", 2, "its `format` is 2, and 1 is read"),
        ("home", "turns", [1], "its `turns[0]` is not a text"),
        ("lease", "pid", 0, "its `pid` is not a number of at least 1"),
        ("lease", "processes", {"x": None}, "its `processes` is not a list of processes"),
        ("lease", "processes", {"1": 7}, "its `processes.1` is not a text"),
        ("lease", "seconds", 0, "its `seconds` is not a duration that a lease can have"),
        ("lease", "seconds", float("nan"), "its `seconds` is not a duration that a lease can have"),
        ("lease", "seconds", "30", "its `seconds` is not a number"),
        ("lease", "seconds", 10**400, "its `seconds` is not a whole number of 64 bits"),
        ("status", "next_barrier_in_seconds", float("inf"), "is not a finite number"),
        ("status", "stalled", {"seconds": 1}, "its `stalled.reason` is missing"),
        ("status", "barrier", 7, "its `barrier` is not an object"),
    ],
)
def test_damage_of_small_notes(note: str, path: str, value: object, reason: str) -> None:
    kind, document = type(NOTES[note]()), NOTES[note]().to_json()
    with pytest.raises(Malformed) as raised:
        kind.from_json({**document, path: value})
    assert reason in str(raised.value)


@pytest.mark.parametrize("number", ["", "x", "²", "-1"])
def test_a_generation_has_the_number_of_a_folder(number: str) -> None:
    document = NOTES["generation"]().to_json()
    with pytest.raises(Malformed, match="is not the number of a generation"):
        Generation.from_json({**document, "generation": number})
