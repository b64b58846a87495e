"""The process around a run: arguments in, lines and an exit code out."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ...contracts.terminal import guard_streams
from ..base.errors import RuntimeFault
from ..dataflow.script import Build
from ..plan.arguments import parse_arguments
from ..plan.plan import load_plan, load_spec, plan_path
from .run import run_pipeline
from .views import PlainView


def main(script: str, build: Build, argv: Sequence[str] | None = None) -> None:
    """Runs a script's pipeline from its command line and exits the process with its code.

    0: caught up, or stopped by request; 1: a query failed; 2: the run was not possible as
    requested; 130 and 143: ended by Ctrl-C and SIGTERM.
    """
    sys.exit(run_main(Path(script), build, sys.argv[1:] if argv is None else argv))


def run_main(script: Path, build: Build, argv: Sequence[str]) -> int:
    """Runs the pipeline of a script that Python has loaded; returns the process's exit code."""
    guard_streams()
    try:
        plan = load_plan(plan_path(script))
        arguments = parse_arguments(script, plan, argv)
        folders = (str(script.resolve().parent), os.getcwd())
        result = run_pipeline(
            plan,
            build,
            arguments,
            spec=load_spec(script),
            view=PlainView(),
            folders=folders,
            signals=True,
        )
    except RuntimeFault as fault:
        print(fault.render(), file=sys.stderr)
        return fault.exit_code
    except KeyboardInterrupt:
        print("stopped before the queries had started", file=sys.stderr)
        return 128 + signal.SIGINT
    for failure in result.failures:
        print(failure.render(), file=sys.stderr)
    return result.exit_code
