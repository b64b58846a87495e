"""``streamc compact``: merges the small files of a sink into larger ones."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.report import faults

if TYPE_CHECKING:
    from ...runtime.connectors.files.compaction import Compacted


def compact(
    sink: Annotated[str, typer.Argument(metavar="SINK", help="A files sink of the pipeline.")],
    state: Annotated[str, typer.Option("--state", metavar="DIR", help="The state folder.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be merged; change nothing.")
    ] = False,
) -> None:
    """Merge a sink's small files into larger ones.

    This covers batches up to the oldest retained barrier. The job may be running. Exit codes: 0
    done, or nothing to do, 2 not possible as requested.
    """
    from ...runtime.connectors.files.compaction import compact as merge_files

    with faults():
        done = merge_files(sink, state, dry_run=dry_run, tell=_tell)
    print(f"{sink}: {_outcome(done, dry_run=dry_run)}")


def _outcome(done: Compacted, *, dry_run: bool) -> str:
    if done.reason is not None:
        return f"{done.files_before} files, {done.bytes_before} bytes; {done.reason}"
    files = f"{done.files_before} files become {done.files_after}"
    if dry_run:
        return f"{files}, of {done.bytes_before} bytes; nothing was changed"
    return f"{files}, {done.bytes_before} bytes become {done.bytes_after}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
