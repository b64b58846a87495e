"""What commands write: JSON, and files, each whole or not at all and only when it differs."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .report import UserError


def write_if_changed(files: Mapping[Path, str | bytes]) -> list[Path]:
    """Write the files whose content differs and return their paths.

    All are written next to their destinations first and moved at the end, so that a script and its
    plan never come from two specs. Raises ``UserError`` when that is not possible.
    """
    wanted = ((path, t if isinstance(t, bytes) else t.encode()) for path, t in files.items())
    stale = {path: content for path, content in wanted if _content(path) != content}
    moves: list[tuple[Path, Path]] = []
    try:
        for path, content in stale.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            moves.append((beside, path))
            beside.write_bytes(content)
        for beside, path in moves:
            beside.replace(path)
    except OSError as error:
        for beside, _ in moves:
            beside.unlink(missing_ok=True)
        raise UserError(f"{error.filename} cannot be written: {error.strerror}") from error
    return list(stale)


def difference(path: Path, text: str) -> str:
    """Return how a file would change, as a unified diff; empty when it already holds this text."""
    if _holds(path, text):
        return ""
    name = path.as_posix()
    content = _content(path)
    old = "" if content is None else content.decode("utf-8", "replace")
    return unified(old, text, "/dev/null" if content is None else name, name)


def unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return a unified diff that ends with a line break; empty when the texts are equal."""
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), old_name, new_name
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def json_text(document: Mapping[str, Any]) -> str:
    """Return what a command prints for programs, one of ``contracts.outputs``, as JSON.

    Numbers that JSON does not have are text, ``"NaN"``; so is every other value without a JSON
    form.
    """
    text = json.dumps(_plain(document), indent=2, ensure_ascii=False, default=str, allow_nan=False)
    return f"{text}\n"


def _plain(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return value


def _holds(path: Path, text: str) -> bool:
    return _content(path) == text.encode()


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
