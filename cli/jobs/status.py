"""``streamc status``: whether a job runs on a state, and how it is doing."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.columns import Output, aligned, moment
from ..shared.incompleteness import mark_lines
from ..shared.options import ConfOption
from ..shared.output import json_text
from ..shared.report import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...runtime import QueryProgress, Status

_HEADINGS = ("query", "batch", "rows in", "rows out", "watermark", "state", "late")


def status(
    state: Annotated[
        str, typer.Option("--state", metavar="DIR", help="The state folder of the job.")
    ],
    format: Annotated[Output, typer.Option("--format", help="Output format.")] = Output.TEXT,
    conf: ConfOption = None,
) -> None:
    """Show the job on a state: its epoch, last barrier and queries.

    Exit codes: 0 a job runs, 1 none does or it is stalled, 2 the path is not a state folder.
    """
    from ...runtime import read_status
    from ...runtime.execution.status import status_document

    with faults():
        found = read_status(state, conf or ())
    if format is Output.JSON:
        sys.stdout.write(json_text(status_document(found)))
    else:
        print("\n".join(_lines(found, datetime.now(UTC))))
    raise typer.Exit(0 if found.holder is not None and found.stalled is None else 1)


def _lines(found: Status, now: datetime) -> Iterator[str]:
    from ...runtime.execution.views import duration, standing_line

    holder = found.holder
    if holder is None:
        yield f"{found.pipeline}: no job runs"
    else:
        since = datetime.fromisoformat(holder.started_at)
        ago = duration(max((now - since).total_seconds(), 0))
        yield f"{found.pipeline}: {holder.shown}, since {moment(since)} ({ago})"
    if found.standing is None or found.age_seconds is None:
        if holder is not None:
            yield f"  {found.phase}"
        yield from (f"  {line}" for line in mark_lines(found.marks))
        return
    age = f"{duration(found.age_seconds)} ago"
    yield f"  {'as of' if holder else 'last seen'} {age}: version {found.version}, " + (
        f"generation {found.generation}{_partitions(found)}"
    )
    yield f"  {standing_line(found.standing, now)}"
    if found.stalled is not None:
        yield f"  stalled: {found.stalled}"
    rows: list[tuple[str, ...]] = [
        ("query", "batch", "rows in", "rows out", "watermark", "state", "late")
    ]
    for query in found.queries:
        rows += _rows(query)
    yield from (f"  {line}" for line in aligned(rows))
    yield from (f"  {line}" for line in mark_lines(found.marks))


def _partitions(found: Status) -> str:
    return "" if found.partitions is None else f", {found.partitions} partitions"


def _rows(query: QueryProgress) -> Iterator[tuple[str, ...]]:
    batch = "" if query.batch < 0 else f"{query.batch:,}"
    counts = (batch, f"{query.rows_in:,}", f"{query.rows_out:,}")
    yield (query.query, *counts, moment(query.watermark), "", "")
    for operator in query.operators:
        rows = "" if operator.state_rows is None else f"{operator.state_rows:,}"
        yield (f"  {operator.id}", "", "", "", "", rows, f"{operator.late_rows:,}")
