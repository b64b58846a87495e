"""Who may read a job's files: its state only the owner, its outputs as the umask says."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamc.runtime.base.private_files import make_folders, open_new, secure
from streamc.runtime.state.home import settle
from streamc.runtime.state.lease import Lease
from streamc.runtime.storage.local_files import LocalFiles
from test_damaged_notes import run, saved

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")


@pytest.fixture(autouse=True)
def mask() -> Iterator[None]:
    """The umask that most systems have."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[Path]:
    """What lies in a folder, itself included, and is not for its owner alone."""
    return [p for p in (folder, *folder.rglob("*")) if mode(p) & 0o077 and not p.is_symlink()]


def test_a_state_is_its_owners(tmp_path: Path) -> None:
    state = tmp_path / "above" / "state"
    lease = Lease(LocalFiles(), str(state), "it", local=True)
    settle(LocalFiles(), str(state), "it", local=True)
    assert open_to_others(state) == []
    assert mode(state.parent) == 0o755
    lease.release()


def test_a_group_reads_what_was_made_for_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o2770)
    settle(LocalFiles(), str(state), "it", local=True)
    LocalFiles().create(f"{state}/control/requests/x.json", "")
    assert mode(state) == 0o2770
    assert {mode(p) & 0o777 for p in state.rglob("*") if p.is_dir()} == {0o770}
    assert {mode(p) & 0o777 for p in state.rglob("*") if p.is_file()} == {0o660}
    state.chmod(0o750)
    make_folders(state / "a/b")
    with open_new(state / "a/b/c"):
        pass
    assert (mode(state / "a/b"), mode(state / "a/b/c")) == (0o750, 0o640)


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o700), (0o777, 0o700), (0o770, 0o770)])
def test_what_all_could_read_is_taken_back(tmp_path: Path, before: int, after: int) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(before)
    secure(state)
    assert mode(state) == after


def test_exports_and_imports(tmp_path: Path) -> None:
    state = saved(tmp_path / "state")
    secure(state)
    archive = tmp_path / "one.tar"
    assert run(state, "export", "first", str(archive))[0] == 0
    assert mode(archive) == 0o600
    (state / "savepoints").chmod(0o700)
    assert run(state, "import", str(archive), "--name", "third")[0] == 0
    assert open_to_others(state / "savepoints/third") == []
