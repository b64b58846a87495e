"""The place of a state: a copy is recognized, a moved one raises no question."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.plan.arguments import ADOPT, AS_COPY
from streamc.runtime.state.holders import Holder, lease_file
from streamc.runtime.state.home import Home, begin_turn, home_file, read_home, settle
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import read_note, seal
from streamc.runtime.storage.places import Place, is_own_disk

FILES = LocalFiles()
Do = Callable[[Path], Path]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    note = {"format": 2, "id": "first", "pipeline": "p"}
    (folder / "state.json").write_text(seal(note), encoding="utf-8")
    begin_turn(FILES, str(folder), at(folder))
    return folder


def at(folder: Path, decision: str | None = None) -> Home:
    return settle(FILES, str(folder), str(folder), local=True, decision=decision)


def refused(folder: Path, decision: str | None = None) -> str:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with pytest.raises(RuntimeFault) as caught:
        at(folder, decision)
    assert before == {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return f"{caught.value.code.number} {caught.value.message}"


def id_of(folder: Path) -> object:
    return (read_note(FILES, f"{folder}/state.json") or {})["id"]


def moved(state: Path) -> Path:
    return state.rename(state.with_name("moved"))


def moved_with_its_parent(state: Path) -> Path:
    new = state.parent.with_name(f"{state.parent.name}-moved")
    state.parent.rename(new)
    return new / state.name


def linked(state: Path) -> Path:
    link = state.with_name("link")
    link.symlink_to(state)
    return link


def replaced_by_a_link(state: Path) -> Path:
    state.rename(state.with_name("there"))
    state.symlink_to(state.with_name("there"))
    return state


def put_back(state: Path) -> Path:
    copy = shutil.copytree(state, state.with_name("backup"))
    shutil.rmtree(state)
    return Path(shutil.copytree(copy, state))


def relative(state: Path) -> Path:
    return Path(os.path.relpath(state))


@pytest.mark.parametrize(
    "do", [moved, moved_with_its_parent, linked, replaced_by_a_link, put_back, relative]
)
def test_what_is_the_same_state(state: Path, do: Do) -> None:
    folder = do(state)
    home = at(folder)
    assert (len(home.turns), home.copy_of, home.adopted) == (1, (), False)
    assert read_home(FILES, str(folder)) == home
    assert id_of(folder) == "first"
    assert at(folder) == home


def copied(state: Path) -> Path:
    return Path(shutil.copytree(state, state.with_name("copy"), copy_function=shutil.copy2))


def copied_by_links(state: Path) -> Path:
    return Path(shutil.copytree(state, state.with_name("copy"), copy_function=os.link))


def copied_and_the_first_moved_away(state: Path) -> Path:
    copy = copied(state)
    moved(state)
    return copy


def copied_and_the_first_deleted(state: Path) -> Path:
    copy = copied(state)
    shutil.rmtree(state)
    return copy


def copy_of_a_copy(state: Path) -> Path:
    first = copied(state)
    at(first, AS_COPY)
    return Path(shutil.copytree(first, state.with_name("another")))


def from_another_machine(state: Path) -> Path:
    """At the same path, but another folder: what `rsync` leaves on a second machine."""
    home = at(state)
    other = replace(home.place, host="far", device=1, inode=(home.place.inode or 0) + 1)
    note = {"format": 1, **asdict(other), "turns": list(home.turns), "copy_of": []}
    Path(home_file(str(state))).write_text(seal(note), encoding="utf-8")
    return state


COPIES = [
    copied,
    copied_by_links,
    copied_and_the_first_moved_away,
    copied_and_the_first_deleted,
    copy_of_a_copy,
    from_another_machine,
]


@pytest.mark.parametrize("do", COPIES)
def test_a_copy_is_asked_about(state: Path, do: Do) -> None:
    folder = do(state)
    assert refused(folder).startswith("SR0415 ")
    before, known = id_of(folder), read_home(FILES, str(folder))
    found = at(folder, ADOPT)
    assert known is not None
    assert (id_of(folder), found.adopted, found.turns) == (before, True, known.turns)
    assert at(folder).adopted is False


@pytest.mark.parametrize("do", COPIES)
def test_a_copy_becomes_a_state_of_its_own(state: Path, do: Do) -> None:
    folder = do(state)
    before = id_of(folder)
    home = at(folder, AS_COPY)
    assert id_of(folder) not in ("first", before)
    assert (home.turns, home.copy_of[-1], home.adopted) == ((), before, False)
    assert at(folder, AS_COPY) == home, "said again it changes nothing"
    assert at(folder) == home


def test_the_original_is_known_by_its_place(state: Path) -> None:
    copy = copied(state)
    assert f"of the state in {state} on {socket.gethostname()}, which still exists" in refused(copy)
    shutil.rmtree(state)
    assert "which may be in use elsewhere" in refused(copy)


def test_who_is_adopted_takes_the_place_of_the_other(state: Path) -> None:
    copy = copied(state)
    at(copy, ADOPT)
    assert "SR0415" in refused(state)
    assert f"of the state in {copy}" in refused(state)
    at(state, ADOPT)
    assert "SR0415" in refused(copy)


def test_nothing_is_adopted_while_the_original_runs(state: Path) -> None:
    copy = copied(state)
    Path(lease_file(str(state))).write_text(seal(asdict(Holder.here(30.0))), encoding="utf-8")
    assert "SR0401" in refused(copy, ADOPT)
    at(copy, AS_COPY)


def test_outputs_of_runs_that_a_state_does_not_know(state: Path) -> None:
    copy = copied(state)
    later = begin_turn(FILES, str(state), at(state))
    earlier = at(copy, ADOPT)
    later.check_turn(earlier.turn, "it")
    later.check_turn(None, "it")
    earlier.check_turn(later.turn, "it")  # It was said to take the outputs over.
    with pytest.raises(RuntimeFault, match="another copy of this state has opened it") as caught:
        at(copy).check_turn(later.turn, "it")
    assert caught.value.code.number == "SR0332"


def test_many_turns_are_remembered(state: Path) -> None:
    home = at(state)
    first = home.turn
    for _ in range(1100):
        home = replace(home, turns=(*home.turns[-999:], home.turn))
    assert len(begin_turn(FILES, str(state), home).turns) == 1000
    assert first in home.turns


def test_elsewhere_the_path_decides() -> None:
    here, there = (Place.of(f"hdfs://n/{name}/", local=False) for name in ("a", "b"))
    assert here.is_same(Place("hdfs://n/a"))
    assert not here.is_same(there)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Place("/a", "h", 1, 7), Place("/a", "h", 2, 7), True),  # the machine has started again
        (Place("/a", "h", 1, 7), Place("/b", "c", 1, 7), True),  # mounted in a container
        (Place("/a", "h", 1, 7), Place("/a", "c", 9, 7), True),  # its volume on another node
        (Place("/a", "h", 1, 7), Place("/b", "h", 2, 7), False),  # a snapshot, mounted
        (Place("/a", "h", 1, 7), Place("/a", "c", 1, 8), False),
        (Place("/a", "h", None, None), Place("/a", "h", None, None), True),
        (Place("/a", "h", None, None), Place("/a", "c", None, None), False),
        (Place("/a", "h", None, None), Place("/b", "h", None, None), False),
    ],
)
def test_what_is_one_place(one: Place, other: Place, same: bool) -> None:
    assert one.is_same(other) is other.is_same(one) is same


def test_a_damaged_note_of_the_place(state: Path) -> None:
    for text in ("{}", seal({}), seal({"format": 1, "path": 7}), seal({"format": 9})):
        Path(home_file(str(state))).write_text(text, encoding="utf-8")
        assert refused(state).startswith("SR0403 ")


def test_a_disk_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_own_disk(str(tmp_path))
    mounts = f"x / ext4 rw 0 0\nh:/v {tmp_path}/a\\040b nfs4 rw 0 0\n"
    monkeypatch.setattr(Path, "read_text", lambda self, **_: mounts)
    assert is_own_disk(f"{tmp_path}/a")
    assert not is_own_disk(f"{tmp_path}/a b/c")
