"""What the logs of a state say of the input: which files a cut covers, and who has read what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse


def files_up_to(generation: Path, source: str, position: Any) -> list[Path]:
    """The input files that a position of a files source covers, ordered by name."""
    last = -1 if position is None else int(position["logOffset"])
    return sorted(file for file, batch in files_read(generation, source).items() if batch <= last)


def files_read(generation: Path, source: str) -> dict[Path, int]:
    """The input files in the log of a files source, each with its index in the log."""
    found = {}
    for log in (generation / "sources" / source).rglob("[0-9]*"):
        if log.is_file():
            for line in log.read_text("utf-8").splitlines()[1:]:
                entry = json.loads(line)
                found[Path(unquote(urlparse(entry["path"]).path))] = int(entry["batchId"])
    return found


def epochs(generation: Path) -> dict[int, dict[str, Any]]:
    """The log of epochs."""
    notes = [_note(file) for file in (generation / "epochs").glob("[0-9]*.json")]
    return {int(note["epoch"]): note for note in notes}


def planned(generation: Path, query: str) -> dict[int, list[dict[str, Any]]]:
    """What a query's own log says of each batch: the epoch and the position of each source."""
    found = {}
    for log in (generation / "queries" / query / "offsets").glob("[0-9]*"):
        lines = log.read_text("utf-8").splitlines()[2:]
        found[int(log.name)] = [json.loads(line.partition(":")[2]) for line in lines]
    return found


def _note(file: Path) -> dict[str, Any]:
    body = file.read_text("utf-8").rstrip("\n").rpartition("\n")[0]
    note = json.loads(body)
    assert isinstance(note, dict)
    return note
