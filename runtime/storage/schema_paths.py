"""Where Spark's own notes say that the schemas of a keyed program's state are.

Spark writes whole paths into them. In a generation that was made from another one, in a savepoint
and in a state folder that was moved they name a place that is not there, or soon will not be.
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
    """Why a note cannot be used, if it can't."""
    version, _, body = text.partition("\n")
    try:
        json.loads(body)
    except ValueError:
        return "it is no note of Spark's"
    return None if version.startswith("v") else "it is no note of Spark's"


def mend_schema_paths(disk: Disk, folder: str, paths: Iterable[str]) -> None:
    """Has the notes among the files of a generation name the schemas that lie beside them.

    `folder` is that of the generation, or what stands in its place, as `disk` takes it; `paths` are
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
