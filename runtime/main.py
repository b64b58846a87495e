"""The process around a run: arguments in, lines and an exit code out."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..contracts.terminal import guard_streams
from .arguments import parse_arguments
from .errors import RuntimeFault
from .plan import load_plan, plan_path
from .run import run_pipeline
from .views import PlainView

if TYPE_CHECKING:
    from .job import Job


def run_main(script: Path, build: Callable[[Job], None], argv: Sequence[str]) -> int:
    """Runs the pipeline of a script that Python has loaded; returns the process's exit code."""
    guard_streams()
    try:
        plan = load_plan(plan_path(script))
        arguments = parse_arguments(script, plan, argv)
        folders = (str(script.resolve().parent), os.getcwd())
        result = run_pipeline(
            plan, build, arguments, view=PlainView(), folders=folders, signals=True
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
