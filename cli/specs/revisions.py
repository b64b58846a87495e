"""Two versions of a spec from the command line: files, or files at a revision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.report import UserError
from ..shared.spec_files import SUFFIX, read_spec
from .git import read_revision

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...dsl.reports.source import SourceFile

OldArgument = Annotated[
    str,
    typer.Argument(
        metavar="OLD",
        help="A spec, a git revision (NEW at that revision: HEAD~1), or REVISION:PATH.",
        show_default=False,
    ),
]
NewArgument = Annotated[
    str, typer.Argument(metavar="NEW", help="A spec, or REVISION:PATH.", show_default=False)
]


def read_versions(old: str, new: str) -> tuple[SourceFile, SourceFile]:
    """Return both versions; raises ``UserError`` when one can't be read."""
    after = _read(new)
    return _read(old, after), after


def read_version(new: str) -> SourceFile:
    """Return a single version; raises ``UserError`` when it can't be read."""
    return _read(new)


def _read(name: str, new: SourceFile | None = None) -> SourceFile:
    """Read a spec by its path or from a revision; a revision alone means the path of ``new``."""
    if Path(name).is_file() or (name.endswith(SUFFIX) and ":" not in name):
        return _read_file(Path(name))
    revision, colon, path = name.partition(":")
    if colon:
        return read_revision(revision, path, Path())
    if new is None:
        raise UserError(f"there is no {name}", "NEW is a spec, or REVISION:PATH")
    if not Path(new.name).is_file():
        raise UserError(
            f"`{name}` does not name a file",
            f"write `{name}:PATH` when NEW is from a revision too",
        )
    where = Path(new.name)
    return read_revision(name, f"./{where.name}", where.parent)


def _read_file(path: Path) -> SourceFile:
    if not path.exists():
        raise UserError(f"there is no {path}")
    return read_spec(path)


def compile_version(source: SourceFile, new: SourceFile) -> CompileResult:
    """Compile a version with its own name in errors, and the new one's name in emitted code.

    A file's name is in the emitted script, and may be the name of the pipeline: two files that are
    compared are two versions of one spec.
    """
    from ...compiler.driver import compile_source
    from ...dsl.reports.source import SourceFile

    result = compile_source(source)
    if result.diagnostics.has_errors or Path(source.name).name == Path(new.name).name:
        return result
    name = Path(source.name).with_name(Path(new.name).name).as_posix()
    return compile_source(SourceFile(name, source.text, source.folder))
