"""Savepoints and notes that are damaged, or whole and not what they should be.

Each command prints what it prints of an intact state, or a fault: never a traceback, never another
answer.
"""

from __future__ import annotations

import copy
import os
import random
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from json_outputs import output
from streamc.cli.app import app
from streamc.contracts.notes.status import LastBarrier, OperatorProgress, QueryProgress
from streamc.runtime.execution.status import Standing, StatusFile
from streamc.runtime.state.epoch_log import Epoch, EpochLog
from streamc.runtime.state.holders import Holder, lease_file
from streamc.runtime.state.home import begin_turn, settle
from streamc.runtime.state.mailbox import Mailbox
from streamc.runtime.state.recovery_check import Examination
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import seal, unseal
from test_control import NOW, PLAN, barrier, note
from test_savepoints import NEW, OLD, made
from typer.testing import CliRunner

FILES = LocalFiles()
ASKED = 'SELECT card_id, "sum(amount)", "count(*)" FROM spend ORDER BY ALL'
READING = (
    ("show", "second", "--format", "json"),
    ("show", "second", "--spec"),
    ("query", ASKED, "--name", "second"),
    ("query", ASKED),
    ("diff", "first", "second"),
)


@pytest.fixture(autouse=True)
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process takes a lease here, so there is nothing to wait for."""
    monkeypatch.setattr("streamc.runtime.state.lease._SETTLE", 0.01)


def saved(folder: Path) -> Path:
    """A state with two savepoints, both with a source's log."""
    (folder / "savepoints").mkdir(parents=True)
    note(folder / "state.json", {"format": 2, "id": "s", "pipeline": "p"})
    for name, rows in (("first", OLD), ("second", NEW)):
        place = folder / "savepoints" / name
        one = made(place, name, rows)
        log = place / "sources/payments/0"
        log.parent.mkdir(parents=True)
        log.write_text(f"v1\n{name}", encoding="utf-8")
        held = LocalDisk().sums([str(log)])[str(log)]
        whole = replace(one, logs={"sources/payments/0": (held.bytes, held.crc32)}, spec=name)
        note(place / "manifest.json", whole.to_json())
    return folder


def run(state: Path, *arguments: str, group: str | None = "savepoint") -> tuple[int, str, str]:
    words = [*([group] if group else []), *arguments, "--state", str(state)]
    found = CliRunner().invoke(app, words)
    assert found.exception is None or isinstance(found.exception, SystemExit), (
        arguments,
        found.exception,
    )
    return found.exit_code, found.stdout, found.stderr


def damages(place: Path, other: Path, seed: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """What can happen to each file of a savepoint, `other` being another one."""
    chance = random.Random(seed)
    for path in sorted(p.relative_to(place) for p in place.rglob("*") if p.is_file()):
        file, content = place / path, (place / path).read_bytes()
        for _ in range(4):
            at, bit = chance.randrange(len(content)), chance.randrange(8)
            flipped = content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
            yield f"{path}: bit {bit} of byte {at}", _writes(file, flipped)
        for length in (0, chance.randrange(len(content)), len(content) - 1):
            yield f"{path}: {length} bytes", _writes(file, content[:length])
        yield f"{path}: longer", _writes(file, content + b"\n")
        yield f"{path}: gone", file.unlink
        yield f"{path}: of another savepoint", _writes(file, (other / path).read_bytes())
        yield f"{path}: a folder", _becomes_a_folder(file)


def _writes(file: Path, content: bytes) -> Callable[[], None]:
    return lambda: file.write_bytes(content) and None


def _becomes_a_folder(file: Path) -> Callable[[], None]:
    def become() -> None:
        file.unlink()
        file.mkdir()

    return become


@pytest.mark.slow
def test_damage_gives_the_right_answer_or_a_fault(tmp_path: Path) -> None:
    kept = saved(tmp_path / "kept")
    right = {words: run(kept, *words)[:2] for words in READING}
    assert [code for code, _ in right.values()] == [0, 0, 0, 0, 1]
    listed = run(kept, "list")[1].splitlines()
    assert run(kept, "export", "second", str(tmp_path / "out.tar"))[0] == 0
    size = (tmp_path / "out.tar").stat().st_size
    (tmp_path / "out.tar").unlink()
    state, count = tmp_path / "state", 0
    places = [kept / "savepoints" / name for name in ("second", "first")]
    for number, (told, _) in enumerate(damages(places[0], places[1], 7)):
        shutil.rmtree(state, ignore_errors=True)
        shutil.copytree(kept, state)
        second, first = (state / "savepoints" / name for name in ("second", "first"))
        list(damages(second, first, 7))[number][1]()
        for words in READING:
            code, out, err = run(state, *words)
            if code == 2:
                assert (out, err.count("error[SR04")) == ("", 1), (told, words, out, err)
                count += 1
            else:
                assert (code, out) == right[words], (told, words)
        code, out, err = run(state, "list")
        assert code == 0 and out.splitlines()[:2] == listed[:2], (told, out)
        assert out.splitlines() == listed or "\nsecond: DAMAGED: " in out, (told, out)
        code, _, err = run(state, "export", "second", str(tmp_path / "out.tar"))
        if code == 0:
            assert (tmp_path / "out.tar").stat().st_size == size, told
            (tmp_path / "out.tar").unlink()
        else:
            assert (code, "error[SR04" in err) == (2, True), (told, err)
        if "manifest" in told:
            code, out, err = run(state, "seal", "second")
            assert "error[SR04" in err if code == 2 else "3 rows" in out, (told, err)
        assert run(state, "delete", "second")[0] == 0, told
        assert run(state, "list")[1].splitlines() == listed[:2]
    assert count > 120


def test_files_that_no_manifest_knows_change_nothing(tmp_path: Path) -> None:
    state = saved(tmp_path / "state")
    right = {words: run(state, *words) for words in READING}
    folder = state / "savepoints/second/state/spend/spend/state"
    shutil.copy(folder / "part-0.parquet", folder / "part-1.parquet")
    (state / "savepoints/second/sources/payments/1").write_text("v1", encoding="utf-8")
    assert {words: run(state, *words) for words in READING} == right
    assert run(state, "export", "second", str(tmp_path / "a.tar"))[0] == 0
    assert run(state, "import", str(tmp_path / "a.tar"), "--name", "third")[0] == 0
    names = sorted(p.name for p in (state / "savepoints/third").rglob("*") if p.is_file())
    assert names == ["0", "manifest.json", "part-0.parquet"]


def test_a_newer_one_that_is_damaged_is_not_passed_over(tmp_path: Path) -> None:
    state = saved(tmp_path / "state")
    (state / "savepoints/second/manifest.json").write_text("{}", encoding="utf-8")
    code, _, err = run(state, "query", ASKED)
    assert code == 2 and "which savepoint is the newest is not known" in err
    found = output(run(state, "list", "--format", "json")[1])
    (kept,), (lost,) = found["savepoints"], found["damaged"]
    assert (kept["name"], lost["name"]) == ("first", "second")
    assert "its content and its checksum differ" in lost["reason"]


# Notes with correct checksums and wrong contents.


def ran(folder: Path) -> Path:
    """What a job leaves: barriers, a generation, its home, status and lease, two savepoints."""
    saved(folder)
    note(folder / "state.json", {"format": 2, "id": "s", "pipeline": "card_spend"})
    mark = {"operator": "o", "cell": None, "reason": "r", "since": "2026-01-01T00:00:00+00:00"}
    generation = {
        "format": 2,
        "generation": "0002",
        "from": {"generation": "0001", "barrier": 3, "epoch": 9, "same_to": 9},
        "lineage": [{"generation": "0001", "batches": {"per_minute": 4}}],
        "marks": [{**mark, "watermark_ms": 5, "until_ms": 9}],
        "made_at": "2026-01-01T00:00:00+00:00",
    }
    note(folder / "generations/0002/generation.json", generation)
    for number in (3, 4):
        epoch = f"epochs/{number * 3:09d}.json"
        barrier(folder, number, "0002", files={epoch: (2, "a3b2c1d0")})
        cuts = {"epoch": number * 3, "cuts": {}, "rows": True, "drain": False, "opened_at": "x"}
        note(folder / "generations/0002" / epoch, cuts)
    begin_turn(FILES, str(folder), settle(FILES, str(folder), "it", local=True))
    holder = replace(Holder.here(30.0), place="elsewhere")
    lease = note(Path(lease_file(str(folder))), asdict(holder))
    # It has expired, so that a rollback continues.
    os.utime(lease, (time.time() - 60,) * 2)
    query = QueryProgress(
        *("per_minute", 12, 1200, 40, 1.0, 2.0, NOW, 5.0),
        operators=(OperatorProgress("per_minute", "aggregate", 2, 1),),
        active=True,
    )
    standing = Standing("running", 12, LastBarrier(4, 10, NOW, 210), 25.0)
    StatusFile(FILES, str(folder), holder).write(PLAN, "0002", standing, [query])
    return folder


def altered(document: dict[str, Any], seed: int, most: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The document with one of its values removed or of another form, a sample of all ways."""
    paths = list(_paths(document, ()))
    odd = (None, 7, -1, 10**30, 1.5, True, "x", "", [], [1], {}, {"x": 1})
    ways = [(path, value) for path in paths for value in (*odd, _GONE)]
    random.Random(seed).shuffle(ways)
    for path, value in ways[:most]:
        found = copy.deepcopy(document)
        inner: Any = found
        for key in path[:-1]:
            inner = inner[key]
        if value is _GONE:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        yield f"{path} = {value!r}", found


_GONE = object()


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*path, key))


LOOKS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    (None, ("status",)),
    ("barriers", ("list",)),
    ("barriers", ("show", "4")),
    (None, ("rollback", "--to", "3", "--yes", "--accept-repeats", "spend")),
    (None, ("stop", "--timeout", "0")),
)
SAVED: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    ("savepoint", ("list",)),
    ("savepoint", ("show", "second")),
    *(("savepoint", words) for words in READING[2:]),
)
NOTES = {
    "state.json": LOOKS[3:],
    "home.json": LOOKS[3:4],
    "lease.json": LOOKS[3:],
    "control/status.json": LOOKS[:1],
    "generations/0002/generation.json": LOOKS,
    "generations/0002/barriers/000000004.json": LOOKS,
    "generations/0002/epochs/000000012.json": LOOKS[1:4],
    "savepoints/second/manifest.json": SAVED,
}


@pytest.mark.parametrize("ways", [8, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("path", NOTES)
def test_notes_that_are_whole_and_wrong(path: str, ways: int, tmp_path: Path) -> None:
    kept = ran(tmp_path / "state")
    shutil.copytree(kept, tmp_path / "kept")
    document = unseal((kept / path).read_text(encoding="utf-8"))
    for told, other in altered(document, len(path), ways):
        shutil.rmtree(kept)
        shutil.copytree(tmp_path / "kept", kept)
        (kept / path).write_text(seal(other), encoding="utf-8")
        for group, words in NOTES[path]:
            code, _, err = run(kept, *words, group=group)
            assert code in (0, 1, 2), (told, words, code)
            assert "Traceback" not in err
        with_verdict(kept, told)


def with_verdict(state: Path, told: str) -> None:
    """What a run does first, without Spark."""
    examined = Examination(LocalDisk(), str(state / "generations/0002"))
    verdict = examined.verdict()
    for one in examined.manifests:
        examined.barrier_damage(one)
    assert verdict is not None, told
    epochs = EpochLog(LocalDisk(), str(state / "generations/0002"), examined.generation)
    assert isinstance(epochs.look(12), Epoch | str)


def test_requests_that_are_none(tmp_path: Path) -> None:
    state = tmp_path / "state"
    whole = {
        "request": "stop",
        **{"id": "1", "owner": "me", "drain": False, "by": "b", "made_at": "2026-01-01"},
    }
    box = Mailbox(FILES, str(state), "me")
    for told, other in altered(whole, 1, 90):
        (state / "control/requests").mkdir(parents=True, exist_ok=True)
        path = state / "control/requests/1.json"
        path.write_text(seal(other), encoding="utf-8")
        for request in box.requests():
            assert isinstance(request.drain, bool) and isinstance(request.id, str), told
            assert "/" not in request.id
        assert not path.exists()


def test_what_is_said_of_a_note_that_is_wrong(tmp_path: Path) -> None:
    state = ran(tmp_path / "state")
    path = state / "generations/0002/generation.json"
    document = unseal(path.read_text(encoding="utf-8"))
    path.write_text(seal({**document, "lineage": {}}), encoding="utf-8")
    code, _, err = run(state, "rollback", "--to", "3", "--yes", group=None)
    assert code == 2
    assert "generation.json cannot be read: its `lineage` is not a list" in err


def test_an_unpaired_surrogate_is_no_text() -> None:
    half = seal({"id": "x"}).replace('"x"', '"\\ud800"').rpartition("{")[0]
    text = f'{half}{{"crc32":"{zlib.crc32(half.encode()):08x}"}}\n'
    with pytest.raises(ValueError, match="not Unicode"):
        unseal(text)
    assert unseal(seal({"id": "\U0001f600"})) == {"id": "\U0001f600"}
