"""Diagnostics and errors to the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

if TYPE_CHECKING:
    from ...dsl.reports.diagnostics import Diagnostics


class Format(StrEnum):
    """How diagnostics are printed."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="Output format of diagnostics.")]


class UserError(Exception):
    """A problem with the command or its files that the user has to fix; ends with exit code 2."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


def print_error(error: UserError) -> None:
    """Print an error and how to fix it."""
    print(f"error: {error}", file=sys.stderr)
    if error.help is not None:
        print(f"  = help: {error.help}", file=sys.stderr)


@contextmanager
def faults(interrupted: str | None = None) -> Iterator[None]:
    """End the process with a fault of the runtime: its text and its exit code.

    With ``interrupted``, Ctrl-C ends it too, with exit code 130.
    """
    from ...runtime.base.errors import STATE_UNREADABLE, RuntimeFault

    try:
        yield
    except OSError as error:
        told = f"{error.filename or 'a file'}: {error.strerror or error}"
        print(RuntimeFault(STATE_UNREADABLE, told).render(), file=sys.stderr)
        raise typer.Exit(STATE_UNREADABLE.exit_code) from None
    except RuntimeFault as fault:
        print(fault.render(), file=sys.stderr)
        raise typer.Exit(fault.exit_code) from None
    except KeyboardInterrupt:
        if interrupted is None:
            raise
        print(interrupted, file=sys.stderr)
        raise typer.Exit(130) from None


def print_diagnostics(files: Sequence[Diagnostics], how: Format) -> bool:
    """Print what was found in some files; return whether there are errors.

    Text goes to standard error, JSON to standard output.
    """
    from ...dsl.reports.render import render

    remember_secrets(files)
    stream = sys.stdout if how is Format.JSON else sys.stderr
    stream.write(render(files, how.value, color=_wants_color(stream)))
    return any(found.has_errors for found in files)


def stopped_by(files: Sequence[Diagnostics], how: Format) -> bool:
    """Print what was found in some files; return whether there are errors.

    A command prints one JSON document. Without errors it is the command's own, which has the
    warnings; so nothing is printed here.
    """
    if how is Format.JSON and not any(found.has_errors for found in files):
        remember_secrets(files)
        return False
    return print_diagnostics(files, how)


def remember_secrets(files: Sequence[Diagnostics]) -> None:
    """Have the secrets of some files taken out of all that this process prints."""
    from ...contracts.redaction import remember

    for found in files:
        for secret in found.source.secrets:
            remember(secret)


def _wants_color(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
