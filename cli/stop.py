"""``streamc stop``: asks a running job to end."""

from __future__ import annotations

from typing import Annotated

import typer

from .report import faults


def stop(
    state: Annotated[
        str, typer.Option("--state", metavar="DIR", help="The state folder of the job.")
    ],
    drain: Annotated[
        bool,
        typer.Option("--drain", help="Let all windows out first; nothing can follow on the state."),
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long to wait.")
    ] = 600.0,
) -> None:
    """Stop a job: it finishes the epoch in flight, takes a last barrier and ends with code 0.

    Exit codes: 0 it has ended as asked, 1 it has not within the time or ended otherwise, 2 nothing
    runs there.
    """
    from ..runtime import stop_pipeline

    with faults("the request stands: the job ends when it gets there"):
        stop_pipeline(
            state, drain=drain, timeout=timeout, show=lambda line: print(line, flush=True)
        )
