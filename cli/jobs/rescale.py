"""``streamc rescale``: a state in another number of partitions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.columns import Output, aligned, moment, size
from ..shared.options import (
    AdoptOption,
    AsCopyOption,
    OutputOption,
    ProfileOption,
    VariablesOption,
    copied,
)
from ..shared.output import json_text
from ..shared.report import faults
from .run import script_of

if TYPE_CHECKING:
    from ...contracts.outputs import rescaling as outputs
    from ...runtime.execution.rescale import Rescaled, Rescaling


def rescale(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|SCRIPT", help="The spec that the state ran with, or its script."
        ),
    ],
    partitions: Annotated[
        int, typer.Option("--partitions", metavar="N", help="How many the state is to have.")
    ],
    state: Annotated[str | None, typer.Option(metavar="DIR", help="The state folder.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be rewritten; change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    format: OutputOption = Output.TEXT,
    var: VariablesOption = None,
    profile: ProfileOption = None,
    adopt: AdoptOption = False,
    as_copy: AsCopyOption = False,
) -> None:
    """Write a state anew, in another number of partitions.

    The job must not be running. It continues from the newest barrier when it next starts.
    Takes a savepoint and restores it as a new generation of the state; until that has its first
    barrier, `streamc rollback` goes back. Exit codes: 0 done, 2 not possible as requested.
    """
    script = script_of(path)

    from ...runtime import Arguments, RuntimeFault
    from ...runtime.base.errors import NOT_CONFIRMED
    from ...runtime.execution.rescale import possible_rescaling
    from ...runtime.execution.rescale import rescale as write_anew
    from ...runtime.plan.arguments import parse_variables

    decision = copied(adopt=adopt, as_copy=as_copy)
    text, done = format is Output.TEXT, None
    with faults("stopped; the state is as it was"):
        asked = Arguments(True, parse_variables(var or ()), profile, state, copied=decision)
        found = possible_rescaling(script, asked, partitions)
        if text:
            print("\n".join(_lines(found)))
        if not dry_run:
            if not yes and not (text and sys.stdin.isatty() and typer.confirm("Rescale?")):
                raise RuntimeFault(
                    NOT_CONFIRMED, "nothing was changed", "pass `--yes` to skip the question"
                )
            folders = (str(path.resolve().parent),)
            done = write_anew(found, copied=decision, folders=folders, tell=_tell)
    if not text:
        sys.stdout.write(json_text(_document(found, done)))
    elif done is None:
        print("nothing was changed")
    else:
        print("\n".join(_outcome(found, done)))


def _lines(found: Rescaling) -> Iterator[str]:
    barrier = found.barrier
    yield (
        f"{found.shown}: {found.before} -> {_partitions(found.after)}, from barrier "
        f"{barrier.barrier} of {moment(barrier.completed_at)} UTC, epoch {barrier.epoch}"
    )
    rows = [("operator", "rows", "size", "query")]
    for part in found.parts:
        state = part.state
        rows.append((state.id, f"{state.rows:,}", size(state.bytes), part.query))
    yield from (f"  {line}" for line in aligned(rows))
    for part in found.parts:
        if part.stays is not None:
            yield f"  {part.state.id} stays as it is: {part.stays}"
    yield f"rewritten: {found.rows:,} rows, {size(found.bytes)}; {_time(found)}"
    if found.again:
        epochs = "1 epoch runs" if found.again == 1 else f"{found.again} epochs run"
        came = "it" if found.again == 1 else "they"
        yield f"{epochs} again: {came} came after the barrier"
    if found.wish is not None and found.wish != str(found.after):
        yield (
            f"the spec asks for {found.wish}: set `spark.sql.shuffle.partitions` to {found.after} "
            "there, or each start says that it is too late"
        )


def _time(found: Rescaling) -> str:
    if found.seconds is None or found.last is None:
        return "how long that takes is not known before the first time"
    per = found.last.seconds / found.last.bytes * 1_000_000
    return f"about {found.seconds:,.0f} s, if a MB takes {per:.3g} s as the last time"


def _outcome(found: Rescaling, done: Rescaled) -> Iterator[str]:
    yield f"the state continues in {_partitions(found.after)}, as generation {done.generation}"
    yield (
        f"savepoint {done.savepoint} has it in {found.before}; until the first barrier "
        f"`streamc rollback --state {found.shown} --to {found.barrier.barrier}` goes back, too"
    )


def _partitions(number: int) -> str:
    return f"{number} partition{'' if number == 1 else 's'}"


def _document(found: Rescaling, done: Rescaled | None) -> outputs.Rescaling:
    return {
        "format": 1,
        "kind": "rescaling",
        "pipeline": found.plan.pipeline,
        "barrier": found.barrier.barrier,
        "epoch": found.barrier.epoch,
        "before": found.before,
        "after": found.after,
        "rows": found.rows,
        "bytes": found.bytes,
        "again": found.again,
        "seconds": None if found.seconds is None else round(found.seconds, 3),
        "operators": [
            {
                "query": part.query,
                "id": part.state.id,
                "kind": part.state.kind,
                "rows": part.state.rows,
                "bytes": part.state.bytes,
                "stays": part.stays,
            }
            for part in found.parts
        ],
        "generation": None if done is None else done.generation,
        "savepoint": None if done is None else done.savepoint,
    }


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
