"""``streamc fmt``: specs in the layout of the language reference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...contracts.terminal import print_raw
from ..shared.output import difference, unified, write_if_changed
from ..shared.report import Format, FormatOption, print_diagnostics
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
    found = paths or [Path()]
    if only_stdin(found):
        changed, broken = _format_stdin(check, diff)
    else:
        changed, broken = _format_files(found, check, diff)
    if print_diagnostics(broken, format):
        raise typer.Exit(2)
    raise typer.Exit(int(check and changed))


def _format_stdin(check: bool, diff: bool) -> tuple[bool, list[Diagnostics]]:
    """Lay out standard input; return whether it changes, and what is wrong with it."""
    from ...dsl.layout import format_source
    from ...dsl.reports.source import SourceFile

    given = read_stdin()
    source = SourceFile("<stdin>", given.replace("\r\n", "\n"))
    made = format_source(source)
    if made.text is None:
        return False, [made.diagnostics]
    text = _with_line_ends_of(given, made.text)
    if diff:
        sys.stdout.write(unified(given, text, "<stdin>", "<stdin>"))
    elif not check:
        print_raw(text)
    elif text != given:
        print("<stdin> would change")
    return text != given, []


def _format_files(paths: list[Path], check: bool, diff: bool) -> tuple[bool, list[Diagnostics]]:
    """Lay out files; return whether one changes, and what is wrong with those that do not parse."""
    from ...dsl.layout import format_source

    texts: dict[Path, str] = {}
    broken: list[Diagnostics] = []
    specs = find_specs(paths)
    for path in specs:
        source = read_spec(path)
        made = format_source(source)
        if made.text is None:
            broken.append(made.diagnostics)
        elif made.text != source.text:
            texts[path] = _with_line_ends_of(path.read_bytes().decode("utf-8-sig"), made.text)
    if diff:
        sys.stdout.write("".join(difference(path, text) for path, text in texts.items()))
    if check:
        print("".join(f"{path} would change\n" for path in texts), end="")
    if not check and not diff:
        print("".join(f"{path} changed\n" for path in write_if_changed(texts)), end="")
    same = len(specs) - len(texts) - len(broken)
    if not diff and same:
        print(f"{same} spec{'s' if same > 1 else ''} left as {'they are' if same > 1 else 'it is'}")
    return bool(texts), broken


def _with_line_ends_of(old: str, text: str) -> str:
    """Return a text with the line ends of another: all of Windows, or none."""
    return text.replace("\n", "\r\n") if "\r\n" in old else text
