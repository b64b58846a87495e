"""``streamc savepoint query | diff | export | import | seal``: the files of savepoints."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...contracts.terminal import print_raw
from ..shared.columns import Output, aligned, size
from ..shared.options import OutputOption, StateOption
from ..shared.output import json_text
from ..shared.report import UserError, faults
from .savepoint import NameArgument, savepoint

if TYPE_CHECKING:
    from ...runtime.savepoints.inspect.sql import Answer

__all__ = ["savepoint"]


@savepoint.command("query")
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help='"SELECT … FROM per_minute"')],
    state: StateOption,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="A savepoint; default: the newest.")
    ] = None,
    format: OutputOption = Output.TEXT,
) -> None:
    """Query a savepoint with SQL (DuckDB).

    An operator is a table; its keys and cells are columns.
    """
    from ...runtime.savepoints.inspect.sql import ask
    from ...runtime.savepoints.process import newest_savepoint, savepoint_of

    with faults():
        found, folder = newest_savepoint(state) if name is None else savepoint_of(state, name)
        answer = ask(found, folder, sql)
    _print(answer, format)


@savepoint.command("diff")
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A savepoint.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another one.")],
    state: StateOption,
) -> None:
    """Compare two savepoints, cell by cell.

    Keys may be added, removed or changed. Exit code 1 when the savepoints differ.
    """
    from ...runtime.savepoints.inspect.sql import differences
    from ...runtime.savepoints.process import savepoint_of

    with faults():
        before, after = (savepoint_of(state, name) for name in (old, new))
        found = list(differences(*before, *after))
    lines = [["table", "keys added", "removed", "cells changed"]]
    for one in found:
        changed = ", ".join(f"{cell}: {count:,}" for cell, count in one.changed.items())
        lines.append([one.operator, f"{one.added:,}", f"{one.removed:,}", changed or "none"])
    print("\n".join(line.rstrip() for line in aligned(lines, left=1)))
    raise typer.Exit(int(any(one.added or one.removed or one.changed for one in found)))


@savepoint.command("export")
def export(
    name: NameArgument,
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write.")],
    state: StateOption,
) -> None:
    """Write a savepoint into one file, for `import` into another state."""
    from ...runtime.savepoints.inspect.archive import export_savepoint
    from ...runtime.savepoints.process import savepoint_of

    try:
        with faults():
            export_savepoint(*savepoint_of(state, name), archive)
    except OSError as error:
        raise UserError(f"{archive} can't be written: {error.strerror}") from None
    print(f"wrote {archive}, {size(archive.stat().st_size)}")


@savepoint.command("import")
def import_archive(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `export`.")],
    state: StateOption,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Its name; default: the one it had."),
    ] = None,
) -> None:
    """Create a savepoint from an archive.

    A state folder that does not exist, or is empty, becomes one of the savepoint's pipeline.
    """
    from ...runtime.savepoints.inspect.archive import import_savepoint

    with faults():
        found = import_savepoint(state, archive, name)
    print(f"savepoint {found.name}: {found.rows:,} rows, {size(found.bytes)}")


@savepoint.command("seal")
def seal(name: NameArgument, state: StateOption) -> None:
    """Accept the changed Parquet files of a savepoint."""
    from ...runtime.savepoints.inspect.archive import seal_savepoint
    from ...runtime.savepoints.process import noted_savepoint

    with faults():
        found = seal_savepoint(*noted_savepoint(state, name))
    print(f"savepoint {found.name}: {found.rows:,} rows, {size(found.bytes)}")


def _print(answer: Answer, format: Output) -> None:
    if format is Output.JSON:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        columns = list(answer.columns)
        print_raw(json_text({"format": 1, "kind": "rows", "columns": columns, "rows": rows}))
        return
    shown = [[_text(value) for value in row] for row in answer.rows]
    print_raw("\n".join(aligned([list(answer.columns), *shown], left=len(answer.columns))) + "\n")


def _text(value: object) -> str:
    """A value in readable form; instants are in UTC."""
    match value:
        case None:
            return "NULL"
        case datetime():
            return str(value.replace(tzinfo=None))
        case dict():
            return f"{{{', '.join(f'{key}: {_text(held)}' for key, held in value.items())}}}"
        case list():
            return f"[{', '.join(map(_text, value))}]"
    return str(value)
