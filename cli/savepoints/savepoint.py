"""``streamc savepoint``: the state of a pipeline as Parquet, taken from a barrier."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.columns import Output, aligned, moment, size, watermark
from ..shared.incompleteness import mark_lines
from ..shared.options import OutputOption, StateOption
from ..shared.output import json_text
from ..shared.report import UserError, faults
from .low_priority import yield_to_jobs
from .plan import plan

if TYPE_CHECKING:
    from ...contracts.outputs import savepoints as outputs
    from ...contracts.savepoint import Savepoint
    from ...runtime.savepoints.process import DamagedSavepoint

savepoint = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Create, inspect and delete savepoints."
)
savepoint.command("plan")(plan)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the savepoint.")]


@savepoint.command("create")
def create(
    state: StateOption,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; default: pipeline and barrier.")
    ] = None,
    barrier: Annotated[
        int | None, typer.Option("--barrier", metavar="N", help="The barrier; default: the newest.")
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop the job first, and take its last barrier.")
    ] = False,
    yields: Annotated[
        bool,
        typer.Option("--yield/--no-yield", help="Give a running job priority, or not."),
    ] = True,
) -> None:
    """Take a savepoint of a completed barrier; a running job continues."""
    from ...runtime import stop_pipeline
    from ...runtime.savepoints.process import job_runs, take_savepoint

    if stop and barrier is not None:
        raise UserError("`--stop` takes the last barrier, `--barrier` another one", "leave one out")
    with faults():
        if stop:
            stop_pipeline(state, show=_tell)
        if yields and job_runs(state):
            # A slower savepoint harms nobody; without a running job there is nothing to yield to.
            _tell("a job runs on this state and has priority; pass `--no-yield` to compete with it")
            yield_to_jobs()
        found = take_savepoint(state, name=name, barrier=barrier, tell=_tell)
    print(f"savepoint {found.name}: {found.rows:,} rows, {size(found.bytes)}")


@savepoint.command("list")
def list_savepoints(state: StateOption, format: OutputOption = Output.TEXT) -> None:
    """List the savepoints of a state."""
    from ...runtime.savepoints.process import savepoints_of

    with faults():
        found, damaged = savepoints_of(state)
    if format is Output.JSON:
        sys.stdout.write(json_text(_listed(found, damaged)))
        return
    if found:
        heads = ["savepoint", "barrier", "taken (UTC)", "watermark", "rows", "size"]
        print("\n".join(aligned([heads, *map(_cells, found)], left=1)))
    for one in damaged:
        print(f"{one.name}: DAMAGED: {one.reason}")
    if not found and not damaged:
        print("there are no savepoints")


@savepoint.command("show")
def show(
    name: NameArgument,
    state: StateOption,
    spec: Annotated[
        bool, typer.Option("--spec", help="Print only the spec it was taken from.")
    ] = False,
    format: OutputOption = Output.TEXT,
) -> None:
    """Show a savepoint: operators, cells, rows, positions, watermarks."""
    from ...runtime.savepoints.process import savepoint_of

    with faults():
        found, _ = savepoint_of(state, name)
    if spec and format is Output.JSON:
        raise UserError("`--spec` prints text", "pass only one of the two; JSON includes `spec`")
    if spec:
        sys.stdout.write(_spec(found))
    elif format is Output.JSON:
        head = {"format": found.FORMAT, "kind": "savepoint"}
        sys.stdout.write(json_text(head | found.to_json()))
    else:
        print("\n".join(_lines(found)))


@savepoint.command("delete")
def delete(name: NameArgument, state: StateOption) -> None:
    """Remove a savepoint."""
    from ...runtime.savepoints.process import delete_savepoint

    with faults():
        delete_savepoint(state, name)


def _spec(found: Savepoint) -> str:
    if found.spec is None:
        raise UserError(
            f"savepoint {found.name} has no spec",
            "its job ran a script without the `.spec` that `streamc compile` writes next to it",
        )
    return found.spec


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _listed(found: Iterable[Savepoint], damaged: Iterable[DamagedSavepoint]) -> outputs.Savepoints:
    return {
        "format": 1,
        "kind": "savepoints",
        "savepoints": [_summary(one) for one in found],
        "damaged": [{"name": one.name, "reason": one.reason} for one in damaged],
    }


def _summary(found: Savepoint) -> outputs.SavepointSummary:
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
        watermark(found.watermark_ms),
        f"{found.rows:,}",
        size(found.bytes),
    )


def _lines(found: Savepoint) -> Iterator[str]:
    yield f"savepoint {found.name} of {found.pipeline}, version {found.version}"
    yield f"barrier {found.barrier}, epoch {found.epoch}, generation {found.generation}"
    yield f"taken {moment(found.made_at)} UTC, with Spark {found.spark}"
    if found.spec is not None:
        lines = len(found.spec.splitlines())
        yield f"spec {found.plan.spec}: {lines} lines, printed by `--spec`"
    for source, position in found.sources.items():
        yield f"source {source}: {json.dumps(position)}"
    for id, query in found.queries.items():
        yield f"query {id}: batch {query.batch}, watermark {watermark(query.next_watermark_ms)}"
        for operator in query.operators.values():
            rows = f"{operator.rows:,} rows, {size(operator.bytes)}"
            yield f"  {operator.id} ({operator.kind}): {rows}"
            for table in operator.tables.values():
                columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
                yield f"    {table.name}: {table.rows:,} rows ({columns})"
    yield from mark_lines(found.marks)
