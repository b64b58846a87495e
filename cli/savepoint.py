"""``streamc savepoint``: the state of a pipeline as Parquet, taken from a barrier."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from .columns import Output, aligned, moment, size
from .report import UserError
from .savepoint_plan import plan

if TYPE_CHECKING:
    from ..runtime.errors import RuntimeFault
    from ..runtime.savepoints.model import Savepoint

savepoint = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Take, look at and remove savepoints."
)
savepoint.command("plan")(plan)

_STOP_SECONDS = 600.0
_State = Annotated[str, typer.Option("--state", metavar="DIR", help="The state folder of a job.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a savepoint.")]
_Format = Annotated[Output, typer.Option("--format", help="How to print it.")]


@savepoint.command("create")
def create(
    state: _State,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; else pipeline and barrier.")
    ] = None,
    barrier: Annotated[
        int | None, typer.Option("--barrier", metavar="N", help="A barrier; else the newest.")
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop the job first, and take its last barrier.")
    ] = False,
) -> None:
    """Take a savepoint from a completed barrier, while the job runs on."""
    from ..runtime import RuntimeFault, stop_pipeline
    from ..runtime.savepoints.process import take_savepoint

    if stop and barrier is not None:
        raise UserError("`--stop` takes the last barrier, `--barrier` another one", "leave one out")
    try:
        if stop:
            stop_pipeline(state, drain=False, timeout=_STOP_SECONDS, show=_tell)
        found = take_savepoint(state, name=name, barrier=barrier, tell=_tell)
    except RuntimeFault as fault:
        raise ended(fault) from None
    print(f"savepoint {found.name}: {found.rows:,} rows, {size(found.bytes)}")


@savepoint.command("list")
def list_savepoints(state: _State, format: _Format = Output.TEXT) -> None:
    """List the savepoints of a state."""
    from ..runtime.errors import RuntimeFault
    from ..runtime.savepoints.process import savepoints_of

    try:
        found = savepoints_of(state)
    except RuntimeFault as fault:
        raise ended(fault) from None
    if format is Output.JSON:
        print(json.dumps([_summary(one) for one in found], indent=1))
    elif found:
        heads = ["savepoint", "barrier", "taken (UTC)", "watermark", "rows", "size"]
        print("\n".join(aligned([heads, *map(_cells, found)], left=1)))
    else:
        print("there is no savepoint")


@savepoint.command("show")
def show(name: _Name, state: _State, format: _Format = Output.TEXT) -> None:
    """Show what a savepoint holds: operators, cells, rows, positions, watermarks."""
    from ..runtime.errors import RuntimeFault
    from ..runtime.savepoints.process import savepoint_of

    try:
        found, _ = savepoint_of(state, name)
    except RuntimeFault as fault:
        raise ended(fault) from None
    if format is Output.JSON:
        print(json.dumps(found.to_document(), indent=1))
    else:
        print("\n".join(_lines(found)))


@savepoint.command("delete")
def delete(name: _Name, state: _State) -> None:
    """Remove a savepoint."""
    from ..runtime.errors import RuntimeFault
    from ..runtime.savepoints.process import delete_savepoint

    try:
        delete_savepoint(state, name)
    except RuntimeFault as fault:
        raise ended(fault) from None


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def ended(fault: RuntimeFault) -> typer.Exit:
    """Print a fault; the exit that belongs to it."""
    print(fault.render(), file=sys.stderr)
    return typer.Exit(fault.exit_code)


def _summary(found: Savepoint) -> dict[str, object]:
    return {
        "name": found.name,
        "pipeline": found.pipeline,
        "version": found.version,
        "barrier": found.barrier,
        "made_at": found.made_at.isoformat(timespec="milliseconds"),
        "watermark_ms": found.watermark_ms,
        "rows": found.rows,
        "bytes": found.bytes,
    }


def _cells(found: Savepoint) -> tuple[str, ...]:
    return (
        found.name,
        str(found.barrier),
        moment(found.made_at),
        _instant(found.watermark_ms),
        f"{found.rows:,}",
        size(found.bytes),
    )


def _instant(milliseconds: int) -> str:
    if milliseconds <= 0:
        return "none"
    return moment(datetime.fromtimestamp(milliseconds / 1000, UTC))


def _lines(found: Savepoint) -> Iterator[str]:
    yield f"savepoint {found.name} of {found.pipeline}, version {found.version}"
    yield f"barrier {found.barrier}, epoch {found.epoch}, generation {found.generation}"
    yield f"taken {moment(found.made_at)} UTC, with Spark {found.spark}"
    for source, position in found.sources.items():
        yield f"source {source}: {json.dumps(position)}"
    for id, query in found.queries.items():
        yield f"query {id}: batch {query.batch}, watermark {_instant(query.next_watermark_ms)}"
        for operator in query.operators.values():
            rows = f"{operator.rows:,} rows, {size(operator.bytes)}"
            yield f"  {operator.id} ({operator.kind}): {rows}"
            for table in operator.tables.values():
                columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
                yield f"    {table.name}: {table.rows:,} rows ({columns})"
