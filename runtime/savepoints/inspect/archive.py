"""Savepoints as one file, and files that somebody has changed.

An archive is an uncompressed tar: Parquet is already compressed.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from ....contracts.savepoint import SavedOperator, SavedTable, Savepoint
from ...base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from ...base.private_files import make_folders, open_new, secure
from ...state.state import begin_state
from ...storage.disk import LocalDisk
from ...storage.local_files import LocalFiles, local_folder, local_state
from ...storage.notes import seal
from ..format.model import FOLDER, MANIFEST, check_name, read_manifest
from ..format.staging import draft, publish
from ..restore.restore import check_files
from .sql import describe


def export_savepoint(savepoint: Savepoint, folder: str, archive: Path) -> None:
    """Writes a savepoint into an archive, which appears whole or not at all.

    Raises RuntimeFault when the savepoint is damaged or the archive already exists.
    """
    check_files(LocalDisk(), savepoint, folder)
    if archive.exists():
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE, f"file {archive} already exists", "give another name"
        )
    written = archive.with_name(f".{archive.name}.tmp")
    try:
        with open_new(written) as file, tarfile.open(fileobj=file, mode="w") as tar:
            for path in (MANIFEST, *sorted(savepoint.files())):
                tar.add(f"{folder}/{path}", path, recursive=False)
        written.rename(archive)
    finally:
        written.unlink(missing_ok=True)


def import_savepoint(state: str, archive: Path, name: str | None) -> Savepoint:
    """Creates a savepoint in a state folder from an archive, under its own name by default.

    A folder that does not exist or is empty becomes the state of the savepoint's pipeline. Raises
    RuntimeFault when the archive holds no whole savepoint or the name is taken.
    """
    disk = LocalDisk()
    with _place(state) as (folder, is_new), draft(disk, folder, "import") as made:
        found = _unpack(archive, made)
        check_files(disk, found, made)
        named = check_name(name or found.name)
        if named in disk.list(f"{folder}/{FOLDER}"):
            raise RuntimeFault(
                SAVEPOINT_UNUSABLE,
                f"savepoint `{named}` already exists",
                "give another name with `--name`",
            )
        found = replace(found, name=named)
        disk.replace(f"{made}/{MANIFEST}", seal(found.to_json()))
        if is_new:
            begin_state(LocalFiles(), folder, found.pipeline)
        publish(disk, made, folder, named)
    return found


@contextmanager
def _place(state: str) -> Iterator[tuple[str, bool]]:
    """The folder to import into, and whether it is new; what an error leaves of a new one goes."""
    folder = local_folder(state)
    existed = os.path.isdir(folder)
    if os.listdir(folder) if existed else os.path.lexists(folder):
        yield local_state(state)[1], False
        return
    secure(folder)
    try:
        yield folder, True
    except BaseException:
        LocalDisk().delete([f"{folder}/{FOLDER}", f"{folder}/state.json"])
        if not existed:
            os.rmdir(folder)
        raise


def _unpack(archive: Path, folder: str) -> Savepoint:
    """Writes the savepoint of an archive into a folder: the files of its manifest, and no others.

    An archive is as long as what it holds, and each file as its manifest says, so that no more is
    written than was there to be read.
    """
    try:
        # Only as `export` writes it: compressed data may have any length when unpacked.
        with tarfile.open(archive, "r:") as tar:
            members = dict(_members(tar))
            if MANIFEST not in members:
                raise _Refused(f"it has no {MANIFEST}")
            found = _manifest(tar, members.pop(MANIFEST))
            _check_members(found, members)
            LocalDisk().replace(f"{folder}/{MANIFEST}", seal(found.to_json()))
            for path, member in members.items():
                _write(tar, member, Path(folder, path))
        return found
    except _ODD as error:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{archive} is not an archive of a savepoint: {str(error) or type(error).__name__}",
            "pass a file that `streamc savepoint export` has written, not packed any further",
        ) from None


class _Refused(ValueError):
    """Something in an archive that `export` never writes."""


_ODD = (tarfile.TarError, OSError, ValueError, OverflowError, MemoryError, EOFError)
"""Errors of a damaged or forged archive."""
_MANIFEST_BYTES = 256 << 20
_CHUNK = 1 << 20


def _members(tar: tarfile.TarFile) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """The files of an archive by their paths, without folders."""
    seen = set()
    for member in tar:
        path = member.name.removeprefix("./")
        if member.isdir():
            continue
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.sparse is not None:
            raise _Refused(f"`{path}` is not a plain file")
        if path in seen:
            raise _Refused(f"`{path}` is in it twice")
        seen.add(path)
        yield path, member


def _manifest(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Savepoint:
    if member.size > _MANIFEST_BYTES:
        raise _Refused(f"its {MANIFEST} has {member.size} bytes")
    return read_manifest(_content(tar, member).read().decode())


def _check_members(savepoint: Savepoint, members: Mapping[str, tarfile.TarInfo]) -> None:
    files = savepoint.files()
    for path, member in members.items():
        if path not in files:
            raise _Refused(f"its {MANIFEST} does not know `{path}`")
        if member.size != files[path][0]:
            raise _Refused(f"`{path}` has {member.size} bytes, and had {files[path][0]}")
    for path in files:
        if path not in members:
            raise _Refused(f"it lacks `{path}`")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    make_folders(path.parent)
    with _content(tar, member) as held, open_new(path, exclusive=True) as out:
        shutil.copyfileobj(held, out, _CHUNK)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    held = tar.extractfile(member)
    if held is None:
        raise _Refused(f"`{member.name}` is not a plain file")
    return held


def seal_savepoint(savepoint: Savepoint, folder: str) -> Savepoint:
    """Accepts the existing Parquet files: their rows, lengths and checksums are recorded.

    Raises RuntimeFault for a file that lacks a column of its table, or has one of another type; the
    manifest is then unchanged.
    """
    queries = {
        id: replace(
            query,
            operators={
                name: _resealed(operator, folder, f"state/{id}/{name}")
                for name, operator in query.operators.items()
            },
        )
        for id, query in savepoint.queries.items()
    }
    found = replace(savepoint, queries=queries)
    LocalDisk().replace(f"{folder}/{MANIFEST}", seal(found.to_json()))
    return found


def _resealed(operator: SavedOperator, folder: str, path: str) -> SavedOperator:
    tables = {
        name: _table(table, folder, f"{path}/{name}") for name, table in operator.tables.items()
    }
    return replace(operator, tables=tables)


def _table(table: SavedTable, folder: str, path: str) -> SavedTable:
    place = Path(folder, path)
    rows = 0
    found: dict[str, tuple[int, str]] = {}
    names = [f.name for f in sorted(place.glob("*.parquet")) if not f.name.startswith(".")]
    was = _types(table, folder)
    for name in names:
        content = describe(str(place / name))
        for column in table.columns:
            if column not in content.types:
                raise _refused(f"{path}/{name}", f"it has no column `{column}`")
            if column in was and content.types[column] != was[column]:
                told = f"`{column}` is {content.types[column]}, not {was[column]}"
                raise _refused(f"{path}/{name}", told)
        rows += content.rows
        held = LocalDisk().sums([str(place / name)])[str(place / name)]
        found[str(PurePosixPath(path, name))] = (held.bytes, held.crc32)
    return replace(table, rows=rows, files=found)


def _types(table: SavedTable, folder: str) -> Mapping[str, str]:
    """The types of the columns in an unchanged file, if there is one left."""
    for path, held in table.files.items():
        there = LocalDisk().sums([f"{folder}/{path}"]).get(f"{folder}/{path}")
        if there is not None and (there.bytes, there.crc32) == held:
            return describe(f"{folder}/{path}").types
    return {}


def _refused(path: str, reason: str) -> RuntimeFault:
    return RuntimeFault(
        SAVEPOINT_UNUSABLE,
        f"{path} can't be sealed: {reason}",
        "write the columns of the table with their types; `streamc savepoint show` names them",
    )
