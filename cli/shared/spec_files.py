"""Specs from paths on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .report import UserError

if TYPE_CHECKING:
    from ...dsl.reports.source import SourceFile

SUFFIX = ".stream"
STDIN = Path("-")
"""Stands for standard input among paths."""

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATHS...", help="Specs, or folders with specs.", show_default=False),
]


def read_specs(paths: Iterable[Path]) -> list[SourceFile]:
    """Read the specs of files and folders; raises ``UserError`` for anything else."""
    return [read_spec(path) for path in find_specs(paths)]


def find_specs(paths: Iterable[Path]) -> Sequence[Path]:
    """Return each spec once: files as given, the specs of a folder and all below it by name."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(spec for spec in path.rglob(f"*{SUFFIX}") if spec.is_file())
            if not inside:
                raise UserError(f"there are no specs (*{SUFFIX}) in {path}")
            found.update(dict.fromkeys(inside))
        elif not path.exists():
            raise UserError(f"there is no {path}")
        elif path.suffix != SUFFIX:
            raise UserError(f"{path} is not a spec", f"names of specs end in `{SUFFIX}`")
        else:
            found[path] = None
    return list(found)


def read_spec(path: Path, name: str | None = None) -> SourceFile:
    """Read one spec, ``name`` in messages; raises ``UserError`` when it cannot be read."""
    from ...dsl.reports.source import SourceFile, decoded

    shown = path.as_posix() if name is None else name
    try:
        return SourceFile(shown, decoded(path.read_bytes()), path.parent)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(
            f"{shown} is not UTF-8: byte 0x{error.object[error.start]:02x} in line {line}",
            "save the file as UTF-8",
        ) from error
    except OSError as error:
        raise UserError(f"{shown} cannot be read: {error.strerror}") from error


def only_stdin(paths: Sequence[Path]) -> bool:
    """Return whether standard input is read; raises ``UserError`` when paths are given, too."""
    if STDIN in paths and len(paths) > 1:
        raise UserError("`-` cannot be combined with paths", "give either `-` or paths")
    return STDIN in paths


def read_stdin() -> str:
    """Return standard input with its line ends; raises ``UserError`` if it is not UTF-8."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError("standard input is not UTF-8") from error
