"""``streamc fmt``: specs in the layout of the language reference."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...contracts.outputs.specs import Formatted
from ...contracts.terminal import print_raw
from ..shared.output import difference, json_text, unified, write_if_changed
from ..shared.report import Format, FormatOption, print_diagnostics, remember_secrets
from ..shared.spec_files import find_specs, only_stdin, read_spec, read_stdin

if TYPE_CHECKING:
    from ...dsl.reports.diagnostics import Diagnostics


def fmt(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATHS]...",
            help="Specs or folders; `-` formats standard input to standard output. Default: the "
            "current folder.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; list the specs that would change, and exit with 1."
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes.")] = False,
    format: FormatOption = Format.FULL,
) -> None:
    """Format specs, preserving comments and front matter.

    A spec with syntax errors is left alone, and its errors are printed.
    """
    given = paths or [Path()]
    laid_out, broken = _format_stdin() if only_stdin(given) else _format_files(given)
    changed = any(spec.changed for spec in laid_out)
    files = {spec.path: spec.text for spec in laid_out if spec.path and spec.changed}
    if not check and not diff:
        write_if_changed(files)
    failed = any(found.has_errors for found in broken)
    code: Literal[0, 1, 2] = 2 if failed else 1 if check and changed else 0
    if format is Format.JSON:
        _print_json(laid_out, broken, code, check=check, diff=diff)
    else:
        _print_text(laid_out, check=check, diff=diff)
        print_diagnostics(broken, format)
    raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class _LaidOut:
    """A spec in the layout of the language reference; without a path it is standard input."""

    name: str
    path: Path | None
    old: str
    text: str
    changed: bool

    def difference(self) -> str:
        """Return how it changes, as a unified diff; empty when it does not."""
        if not self.changed:
            return ""
        if self.path is not None:
            return difference(self.path, self.text)
        return unified(self.old, self.text, self.name, self.name)


def _format_stdin() -> tuple[list[_LaidOut], list[Diagnostics]]:
    """Lay out standard input; return it, or what is wrong with it."""
    from ...dsl.layout import format_source
    from ...dsl.reports.source import SourceFile

    given = read_stdin()
    source = SourceFile("<stdin>", given.replace("\r\n", "\n"))
    made = format_source(source)
    if made.text is None:
        return [], [made.diagnostics]
    text = _with_line_ends_of(given, made.text)
    return [_LaidOut(source.name, None, given, text, text != given)], []


def _format_files(paths: list[Path]) -> tuple[list[_LaidOut], list[Diagnostics]]:
    """Lay out files; return those that parse, and what is wrong with the others."""
    from ...dsl.layout import format_source

    laid_out: list[_LaidOut] = []
    broken: list[Diagnostics] = []
    for path in find_specs(paths):
        source = read_spec(path)
        made = format_source(source)
        if made.text is None:
            broken.append(made.diagnostics)
            continue
        old = path.read_bytes().decode("utf-8-sig")
        text = _with_line_ends_of(old, made.text)
        laid_out.append(_LaidOut(str(path), path, old, text, made.text != source.text))
    return laid_out, broken


def _print_text(laid_out: Sequence[_LaidOut], *, check: bool, diff: bool) -> None:
    """Print changes, or which specs have or would have them; standard input as it should be."""
    if diff:
        sys.stdout.write("".join(spec.difference() for spec in laid_out))
    changed = [spec for spec in laid_out if spec.changed]
    if check:
        print("".join(f"{spec.name} would change\n" for spec in changed), end="")
    files = [spec for spec in laid_out if spec.path is not None]
    if not check and not diff:
        for spec in laid_out:
            if spec.path is None:
                print_raw(spec.text)
            elif spec.changed:
                print(f"{spec.name} changed")
    same = len([spec for spec in files if not spec.changed])
    if not diff and same:
        print(f"{same} spec{'s' if same > 1 else ''} left as {'they are' if same > 1 else 'it is'}")


def _print_json(
    laid_out: Sequence[_LaidOut],
    broken: Sequence[Diagnostics],
    code: Literal[0, 1, 2],
    *,
    check: bool,
    diff: bool,
) -> None:
    """Print the same as one document."""
    from ...dsl.reports.render import objects

    remember_secrets(broken)
    document: Formatted = {
        "format": 1,
        "kind": "fmt",
        "exit_code": code,
        "specs": [
            {
                "spec": spec.name,
                "changed": spec.changed,
                "diff": spec.difference() if diff else None,
                "text": None if spec.path or check or diff else spec.text,
            }
            for spec in laid_out
        ],
        "diagnostics": objects(broken),
    }
    print_raw(json_text(document))


def _with_line_ends_of(old: str, text: str) -> str:
    """Return a text with the line ends of another: all of Windows, or none."""
    return text.replace("\n", "\r\n") if "\r\n" in old else text
