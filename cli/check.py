"""``streamc check``: is anything wrong in these specs?"""

from __future__ import annotations

import sys

import typer

from .report import Format, FormatOption, print_diagnostics
from .spec_files import PathsArgument, read_specs


def check(paths: PathsArgument, format: FormatOption = Format.FULL) -> None:
    """Check specs without starting Spark: syntax, names, types, time and state.

    What is wrong goes to standard error; JSON, which a program reads, to standard output.
    """
    sources = read_specs(paths)

    from ..compiler.driver import check_source

    found = [check_source(source) for source in sources]
    stream = sys.stdout if format is Format.JSON else sys.stderr
    if print_diagnostics(found, format, stream):
        raise typer.Exit(2)
    if format is Format.FULL:
        print(f"{len(found)} spec{'s' if len(found) > 1 else ''} checked, no errors")
