"""``streamc diff``: what a change of a spec changes in the emitted code and in the state."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .git import read_revision
from .output import unified
from .report import Format, FormatOption, UserError, print_diagnostics
from .spec_files import SUFFIX, read_spec

if TYPE_CHECKING:
    from ..compiler.driver import CompileResult
    from ..dsl.source import SourceFile


def diff(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A spec, a git revision (NEW as it was then: HEAD~1), or REVISION:PATH.",
            show_default=False,
        ),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="A spec, or REVISION:PATH.", show_default=False)
    ],
    format: FormatOption = Format.FULL,
) -> None:
    """Compare what two versions of a spec compile to; exit code 1 when they differ.

    Prints the diff of the emitted script, then a table of the stateful operators: which are new,
    gone, changed (and in what) or unchanged.
    """
    after = _read(new)
    before = _read(old, after)

    results = (_compile(before, after), _compile(after, after))
    if print_diagnostics([result.diagnostics for result in results], format):
        raise typer.Exit(2)
    raise typer.Exit(int(_print_changes(*results, names=(before.name, after.name))))


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
            f"`{name}` does not say which file",
            f"write `{name}:PATH` when NEW is of a revision too",
        )
    where = Path(new.name)
    return read_revision(name, f"./{where.name}", where.parent)


def _read_file(path: Path) -> SourceFile:
    if not path.exists():
        raise UserError(f"there is no {path}")
    return read_spec(path)


def _compile(source: SourceFile, new: SourceFile) -> CompileResult:
    """Compile a version under its own name for errors, and under the new one for what is emitted.

    A file's name is in the emitted script, and may be the name of the pipeline: two files that are
    compared are two versions of one spec.
    """
    from ..compiler.driver import compile_source
    from ..dsl.source import SourceFile

    result = compile_source(source)
    if result.diagnostics.has_errors or Path(source.name).name == Path(new.name).name:
        return result
    renamed = SourceFile(Path(source.name).with_name(Path(new.name).name).as_posix(), source.text)
    return compile_source(renamed)


def _print_changes(old: CompileResult, new: CompileResult, names: tuple[str, str]) -> bool:
    """Print the changes of script and plan; return whether there are any."""
    from ..compiler.plan.compare import compare_plans
    from ..compiler.plan.compare_text import changes_text

    assert old.script is not None and new.script is not None
    assert old.plan_json is not None and new.plan_json is not None
    code = unified(old.script, new.script, *names)
    if code:
        sys.stdout.write(f"{code}\n")
    before, after = json.loads(old.plan_json), json.loads(new.plan_json)
    sys.stdout.write(changes_text(compare_plans(before, after)))
    return bool(code) or before != after
