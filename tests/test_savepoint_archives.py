"""Archives of savepoints: they restore what their manifest lists, or end with a fault."""

from __future__ import annotations

import random
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamc.runtime.savepoints.format.model import load_savepoint
from streamc.runtime.savepoints.inspect.archive import import_savepoint
from streamc.runtime.storage.notes import seal, unseal
from test_damaged_notes import FILES, no_others, run, saved

__all__ = ["no_others"]


def archive_of(path: Path, *members: tuple[tarfile.TarInfo | str, bytes], mode: str = "w") -> Path:
    import io

    with tarfile.open(path, mode) as tar:
        for info, content in members:
            member = tarfile.TarInfo(info) if isinstance(info, str) else info
            if member.isreg():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def kind_of_member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, target
    return found


def test_an_archive_gives_what_its_manifest_says_and_no_more(tmp_path: Path) -> None:
    state = saved(tmp_path / "state")
    place = state / "savepoints/second"
    names = ["manifest.json", "sources/payments/0", "state/spend/spend/state/part-0.parquet"]
    good = [(name, (place / name).read_bytes()) for name in names]
    document = unseal(good[0][1].decode())

    def manifest(**files: list[Any]) -> tuple[str, bytes]:
        told = {**document["logs"], **{path.replace("__", "/"): one for path, one in files.items()}}
        return "manifest.json", seal({**document, "logs": told}).encode()

    path, log = "sources/payments/0", good[1][1]
    odd: dict[str, list[tuple[Any, bytes]]] = {
        "does not know `x`": [*good, ("x", b"")],
        "does not know `../../../x`": [*good, ("../../../x", b"x")],
        "does not know `/tmp/x`": [*good, ("/tmp/x", b"x")],
        "is in it twice": [*good, good[1]],
        "`l` is not a plain file": [*good, (kind_of_member("l", tarfile.SYMTYPE, "/etc"), b"")],
        "`h` is not a plain file": [*good, (kind_of_member("h", tarfile.LNKTYPE, path), b"")],
        "`f` is not a plain file": [*good, (kind_of_member("f", tarfile.FIFOTYPE), b"")],
        "`d` is not a plain file": [*good, (kind_of_member("d", tarfile.CHRTYPE), b"")],
        "it lacks": good[:-1],
        "it has no manifest.json": good[1:],
        f"`{path}` has {len(log) + 1} bytes": [good[0], (path, log + b"x"), good[2]],
        "is not as it was written": [good[0], (path, log.swapcase()), good[2]],
        "is not a list of files": [manifest(**{"..__..__x": [1, "00000000"]}), *good[1:]],
        "`logs` is not a list of files": [manifest(**{"__tmp__x": [1, "00000000"]}), *good[1:]],
        "checksum differ": [("manifest.json", b"{}"), *good[1:]],
    }
    before = sorted(tmp_path.rglob("*"))
    for told, members in odd.items():
        archive = archive_of(tmp_path / "odd.tar", *members)
        code, out, err = run(state, "import", str(archive), "--name", "third")
        archive.unlink()
        assert (code, out) == (2, "") and told in err, (told, err)
        assert sorted(tmp_path.rglob("*")) == before, told
    for mode in ("w:gz", "w:bz2", "w:xz"):
        archive = archive_of(tmp_path / "packed.tar", *good, mode=mode)
        assert run(state, "import", str(archive), "--name", "third")[0] == 2
    plain = [(f"./{name}", content) for name, content in reversed(good)]
    folder = kind_of_member(".", tarfile.DIRTYPE)
    assert import_savepoint(str(state), archive_of(tmp_path / "a.tar", (folder, b""), *plain), "t")
    assert load_savepoint(FILES, str(state / "savepoints/t")).name == "t"


def test_archives_that_are_damaged(tmp_path: Path) -> None:
    state, archive = saved(tmp_path / "state"), tmp_path / "a.tar"
    assert run(state, "export", "second", str(archive))[0] == 0
    whole, chance = archive.read_bytes(), random.Random(3)
    wanted = load_savepoint(FILES, str(state / "savepoints/second"))
    for _ in range(60):
        at = chance.randrange(len(whole))
        content = whole[:at]
        if chance.random() < 0.7:
            content += bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
        archive.write_bytes(content)
        code, _, err = run(state, "import", str(archive), "--name", "third")
        if code == 0:
            found, _, _ = load_savepoint(FILES, str(state / "savepoints/third")), 0, 0
            assert found == replace(wanted, name="third")
            assert run(state, "delete", "third")[0] == 0
        else:
            assert code == 2 and "error[SR0420]" in err
        assert not list((state / "savepoints").glob(".*"))


def test_an_archive_begins_a_state(tmp_path: Path) -> None:
    """Where there is no folder, or an empty one; what is no archive leaves that as it was."""
    archive, odd = tmp_path / "a.tar", tmp_path / "odd.tar"
    assert run(saved(tmp_path / "state"), "export", "second", str(archive))[0] == 0
    odd.write_bytes(archive.read_bytes()[:-2000])
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for name in ("new", "empty", "größe and more"):
        state = tmp_path / name
        assert run(state, "import", str(odd))[0] == 2
        assert sorted(tmp_path.rglob("*")) == before
    for name in ("new", "empty", "größe and more"):
        state = tmp_path / name
        assert run(state, "import", str(archive))[0] == 0
        assert state.stat().st_mode & 0o777 == 0o700
        assert run(state, "import", str(archive), "--name", "third")[0] == 0
        assert run(state, "import", str(archive), "--name", "third")[0] == 2
        code, out, err = run(state, "list")
        assert (code, err) == (0, "") and "second" in out and "third" in out
        document = unseal((state / "state.json").read_text(encoding="utf-8"))
        assert document["pipeline"] == "p" and document["id"] != "s"


def test_an_archive_does_not_make_a_state_of_what_is_something_else(tmp_path: Path) -> None:
    archive, file, folder = tmp_path / "a.tar", tmp_path / "file", tmp_path / "folder"
    assert run(saved(tmp_path / "state"), "export", "second", str(archive))[0] == 0
    file.touch()
    folder.mkdir()
    (folder / "notes.txt").touch()
    for state in (file, folder):
        code, out, err = run(state, "import", str(archive))
        assert (code, out) == (2, "") and "error[SR0407]" in err
    assert run("s3a://bucket/state", "import", str(archive))[0] == 2  # type: ignore[arg-type]
