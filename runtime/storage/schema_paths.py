"""The paths of a keyed program's state schemas in Spark's own notes.

Spark writes full paths into them. In a generation that was created from another one, in a savepoint
and in a moved state folder these no longer exist, or soon won't.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable

from .disk import Disk, side_file

_NOTE = re.compile(r"queries/[^/]+/state/\d+/_metadata/v2/\d+")
_PATH = re.compile(r'"[^"]*?/(queries/[^/"]+/state/\d+/_stateSchema/[^"]*)"')


def is_schema_note(path: str) -> bool:
    """Whether a file of a generation is one of these notes."""
    return _NOTE.fullmatch(path) is not None


def schema_note_damage(text: str) -> str | None:
    """Why a note is unusable, if it is."""
    version, _, body = text.partition("\n")
    try:
        json.loads(body)
    except ValueError:
        return "it is not a note of Spark's"
    return None if version.startswith("v") else "it is not a note of Spark's"


def mend_schema_paths(disk: Disk, folder: str, paths: Iterable[str]) -> None:
    """Makes the notes among the files of a generation name the schemas next to them.

    `folder` is that of the generation, or its substitute, in the form of `disk`; `paths` are
    relative to it.
    """
    url = folder if ":" in folder.split("/", 1)[0] else f"file:{os.path.abspath(folder)}"
    for path in filter(is_schema_note, paths):
        held = disk.read(f"{folder}/{path}")
        if held is None:
            continue
        mended = _PATH.sub(lambda found: json.dumps(f"{url}/{found[1]}"), held)
        if mended != held:
            disk.delete([f"{folder}/{side_file(path)}"])
            disk.replace(f"{folder}/{path}", mended)
