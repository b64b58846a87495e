"""``streamc barriers``: the completed barriers of a state, and what each holds."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...runtime.accounting.ledger import shown
from ..shared.columns import Output, aligned, moment, size
from ..shared.options import ConfOption, OutputOption, StateOption
from ..shared.output import json_text
from ..shared.report import faults

if TYPE_CHECKING:
    from ...contracts.notes.barrier import Manifest
    from ...runtime.state.history import Kept

barriers = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Show the barriers of a state."
)


@barriers.command("list")
def list_barriers(
    state: StateOption, format: OutputOption = Output.TEXT, conf: ConfOption = None
) -> None:
    """List the barriers and which of them are restorable."""
    from ...runtime.state.history import read_barriers

    with faults():
        found = read_barriers(state, conf or ())
    if format is Output.JSON:
        listed = [_summary(kept) for kept in found]
        sys.stdout.write(json_text({"format": 1, "kind": "barriers", "barriers": listed}))
    elif found:
        print("\n".join(_table(found)))
    else:
        print("no barrier has been completed yet")


@barriers.command("show")
def show_barrier(
    number: Annotated[int, typer.Argument(metavar="N", help="The number of the barrier.")],
    state: StateOption,
    format: OutputOption = Output.TEXT,
    conf: ConfOption = None,
) -> None:
    """Show a barrier, verifying that its files are intact."""
    from ...runtime.state.history import read_barrier

    with faults():
        kept = read_barrier(state, number, conf or ())
    if format is Output.JSON:
        sys.stdout.write(json_text({"format": 1, "kind": "barrier", **kept.to_document()}))
    else:
        print("\n".join(_lines(kept)))


def _summary(kept: Kept) -> dict[str, Any]:
    """A barrier without the parts of each query, sink and source."""
    long = ("queries", "sources", "sinks", "ledger", "files")
    return {name: value for name, value in kept.to_document().items() if name not in long}


_HEADINGS = (
    "barrier",
    "epoch",
    "gen.",
    "completed (UTC)",
    "took",
    "state rows",
    "state",
    "rows in",
    "rows out",
    "restorable",
)


def _table(found: tuple[Kept, ...]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for kept in found:
        able = "yes" if kept.problem is None else f"no: {kept.problem}"
        rows.append((*_cells(kept), able))
    *heads, last = _HEADINGS
    lines = aligned([heads, *(row[:-1] for row in rows)], left=0)
    width = max(len(line) for line in lines)
    for line, end in zip(lines, [last, *(row[-1] for row in rows)], strict=True):
        yield f"{line.ljust(width)}  {end}"


def _cells(kept: Kept) -> tuple[str, ...]:
    manifest = kept.manifest
    if manifest is None:
        return (str(kept.barrier), "", kept.generation, *[""] * 6)
    return (
        str(kept.barrier),
        str(manifest.epoch),
        kept.generation,
        moment(manifest.completed_at),
        _took(manifest.duration_ms),
        f"{manifest.state_rows:,}",
        size(manifest.state_bytes),
        f"{manifest.rows_in:,}",
        f"{manifest.rows_out:,}",
    )


def _took(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds} ms"


def _lines(kept: Kept) -> Iterator[str]:
    manifest = kept.manifest
    if manifest is None:
        yield f"barrier {kept.barrier} of generation {kept.generation}: {kept.problem}"
        return
    yield f"barrier {manifest.barrier}: {manifest.pipeline} version {manifest.version}, " + (
        f"epoch {manifest.epoch} of generation {manifest.generation}"
    )
    asked, took = moment(manifest.requested_at), _took(manifest.duration_ms)
    yield f"  requested at {asked} UTC, complete {took} later"
    yield f"  restorable: {'yes' if kept.problem is None else f'no, {kept.problem}'}"
    yield f"  files: {len(manifest.files)}, {size(sum(n for n, _ in manifest.files.values()))}"
    for heading, rows in _sections(manifest):
        yield ""
        yield heading
        yield from (f"  {line}" for line in aligned(rows))


def _accounts(manifest: Manifest) -> Iterator[str]:
    """A line for each source and stateful operator of each query."""
    entries = [
        (query, name, shown(entry))
        for query, held in manifest.ledger.items()
        for name, entry in held.items()
    ]
    first, second = (max(len(entry[n]) for entry in entries) for n in (0, 1))
    for query, name, counts in entries:
        yield f"{query.ljust(first)}  {name.ljust(second)}  {counts}"


def _sections(manifest: Manifest) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    rows: list[tuple[str, ...]] = [
        ("query", "batch", "watermark", "acknowledged after", "rows in", "rows out")
    ]
    for id, query in manifest.queries.items():
        counts = (f"{query.rows_in:,}", f"{query.rows_out:,}")
        mark = moment(query.watermark)
        rows.append((id, str(query.batch), mark, _took(query.acknowledged_ms), *counts))
    yield "queries; rows are since the previous barrier", rows
    operators: list[tuple[str, ...]] = [
        (one.id, one.kind, str(one.number), f"{one.rows:,}", size(one.bytes), str(one.partitions))
        for one in manifest.operators
    ]
    if operators:
        heads = ("operator", "kind", "number", "rows", "state", "partitions")
        yield "state", [heads, *operators]
    sinks: list[tuple[str, ...]] = [
        (
            name,
            str(sink.batch),
            f"{sink.rows:,}",
            "" if sink.files is None else f"{sink.files:,}",
            "" if sink.bytes is None else size(sink.bytes),
        )
        for name, sink in manifest.sinks.items()
    ]
    yield "sinks", [("sink", "batch", "rows", "files", "size"), *sinks]
    yield "sources", [(name, json.dumps(at)) for name, at in manifest.positions.items()]
    if any(manifest.ledger.values()):
        yield "what happened to the rows", [(line,) for line in _accounts(manifest)]
