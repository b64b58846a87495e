"""Diagnostics and errors to the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

if TYPE_CHECKING:
    from ..dsl.diagnostics import Diagnostics


class Format(StrEnum):
    """How diagnostics are printed."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="How to print what is wrong in a spec.")
]


class UserError(Exception):
    """Something about the command or its files that the user has to mend; ends with exit code 2."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


def print_error(error: UserError) -> None:
    """Print an error and how to mend it."""
    print(f"error: {error}", file=sys.stderr)
    if error.help is not None:
        print(f"  = help: {error.help}", file=sys.stderr)


def print_diagnostics(
    files: Sequence[Diagnostics], how: Format, stream: TextIO | None = None
) -> bool:
    """Print what was found in some files, on standard error; return whether there are errors."""
    from ..dsl.render import render

    stream = stream or sys.stderr
    stream.write(render(files, how.value, color=_wants_color(stream)))
    return any(found.has_errors for found in files)


def _wants_color(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
