"""``streamc rollback``: returns a state to an earlier barrier."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.options import AdoptOption, AsCopyOption, copied
from ..shared.report import faults

if TYPE_CHECKING:
    from ...runtime.execution.rollback_command import Undo


def rollback(
    state: Annotated[str, typer.Option("--state", metavar="DIR", help="The state folder.")],
    to: Annotated[int, typer.Option("--to", metavar="N", help="The barrier to return to.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be undone; change nothing.")
    ] = False,
    accept_repeats: Annotated[
        list[str] | None,
        typer.Option(
            "--accept-repeats",
            metavar="SINK",
            help=(
                "Accept that this sink keeps what it received since, and receives it again; "
                "repeatable."
            ),
        ),
    ] = None,
    same_cuts: Annotated[
        bool, typer.Option("--same-cuts", help="Split the input into the same batches as before.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    adopt: AdoptOption = False,
    as_copy: AsCopyOption = False,
) -> None:
    """Return to a barrier, undoing what was done since.

    The input after it will be read again.
    The job must not be running. Outputs are truncated when it next starts. Exit codes: 0 done, 2
    not possible as requested.
    """
    from ...runtime import RuntimeFault
    from ...runtime.base.errors import NOT_CONFIRMED
    from ...runtime.execution.rollback_command import check_sinks, opened

    decision = copied(adopt=adopt, as_copy=as_copy)
    with faults(), opened(state, decision, lambda line: print(line, file=sys.stderr)) as held:
        undo = held.undo(to)
        for line in _lines(undo, state):
            print(line)
        check_sinks(undo, accept_repeats or ())
        if dry_run:
            print("nothing was changed")
            return
        held.check_copy()
        if not yes and not _confirmed():
            raise RuntimeFault(
                NOT_CONFIRMED, "nothing was changed", "pass `--yes` to skip the question"
            )
        number = held.perform(undo, same_cuts=same_cuts)
    print(f"the state continues from barrier {to}, as generation {number}")
    print("the outputs are truncated when the job next starts")


def _lines(undo: Undo, state: str) -> list[str]:
    manifest = undo.barrier
    when = f"{manifest.completed_at:%Y-%m-%d %H:%M:%S}"
    lines = [f"{state}: back to barrier {manifest.barrier} of {when} UTC, epoch {manifest.epoch}"]
    gone = f"undone: {_count(undo.epochs, 'epoch')}"
    if undo.barriers:
        named = ", ".join(map(str, undo.barriers))
        gone += f", barrier{'s' if len(undo.barriers) > 1 else ''} {named}"
    lines.append(gone)
    after = ""
    if undo.unfinished:
        last = undo.barriers[-1] if undo.barriers else manifest.barrier
        after = f" and those after barrier {last}"
    width = max((len(one.sink) for one in undo.sinks), default=0)
    lines += [
        f"  {one.sink.ljust(width)}  {_count(one.rows, 'row')}{after}: {one.told}"
        for one in undo.sinks
    ]
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _confirmed() -> bool:
    return sys.stdin.isatty() and typer.confirm("Go back?")
