"""The command line: commands, exit codes, and errors without a traceback.

Exit codes: 0 success, 1 differences or failed data, 2 a user's mistake.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .. import __version__
from ..contracts.terminal import guard_streams
from .deployment.package import package
from .jobs.backfill import backfill
from .jobs.barriers import barriers
from .jobs.fork import fork
from .jobs.kernel import kernel
from .jobs.rescale import rescale
from .jobs.rollback import rollback
from .jobs.run import run
from .jobs.status import status
from .jobs.stop import stop
from .review.review import review
from .savepoints.compact import compact
from .savepoints.files import savepoint
from .shared.report import UserError, print_error
from .specs.check import check
from .specs.compile import compile_specs
from .specs.diff import diff
from .specs.explain import explain
from .specs.fmt import fmt
from .specs.graph import graph
from .specs.init import init
from .specs.lsp import lsp
from .specs.test import run_spec_tests

app = typer.Typer(
    name="streamc",
    help="A SQL language for stream processing that compiles to reviewable PySpark.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("backfill")(backfill)
app.add_typer(barriers, name="barriers")
app.command("check")(check)
app.command("compact")(compact)
app.command("compile")(compile_specs)
app.command("diff")(diff)
app.command("explain")(explain)
app.command("fmt")(fmt)
app.command("fork")(fork)
app.command("graph")(graph)
app.command("init")(init)
app.add_typer(kernel, name="kernel")
app.command("lsp")(lsp)
app.command("package")(package)
app.command("rescale")(rescale)
app.command("review")(review)
app.command("rollback")(rollback)
app.command("run")(run)
app.add_typer(savepoint, name="savepoint")
app.command("status")(status)
app.command("stop")(stop)
app.command("test")(run_spec_tests)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"streamc {__version__}")
        raise typer.Exit


@app.callback()
def _streamc(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Handle the options before the command."""
    guard_streams()


def main() -> None:
    """Run the command line and end the process with its exit code."""
    guard_streams()
    try:
        # However the process was started, this is what shells complete and messages name.
        app(prog_name="streamc")
        sys.stdout.flush()
    except UserError as error:
        print_error(error)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of the output has closed it; Python's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
