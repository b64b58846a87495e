"""``streamc stop``: asks a running job to stop."""

from __future__ import annotations

from typing import Annotated

import typer

from ..shared.options import ConfOption
from ..shared.report import faults


def stop(
    state: Annotated[
        str, typer.Option("--state", metavar="DIR", help="The state folder of the job.")
    ],
    drain: Annotated[
        bool,
        typer.Option(
            "--drain", help="Let all windows come out first; nothing can follow on this state."
        ),
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long to wait.")
    ] = 600.0,
    conf: ConfOption = None,
) -> None:
    """Stop a job after a last barrier.

    It finishes the epoch in flight, takes the barrier and ends with code 0.
    Exit codes: 0 it ended as requested, 1 it did not within the timeout or ended in another way, 2
    nothing runs there.
    """
    from ...runtime import stop_pipeline

    with faults("the request stands: the job will end when it reaches that point"):
        stop_pipeline(
            state,
            drain=drain,
            timeout=timeout,
            show=lambda line: print(line, flush=True),
            conf=conf or (),
        )
