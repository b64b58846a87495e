"""``streamc kernel``: the Scala part of the runtime, built ahead of the first run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..shared.report import UserError, faults

kernel = typer.Typer(
    help="Build the Scala part of the runtime, or show where it is.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@kernel.command("build")
def build(
    force: Annotated[bool, typer.Option("--force", help="Rebuild it, even if it exists.")] = False,
) -> None:
    """Compile the runtime's Scala part.

    Does nothing if it is already built for this Spark. The first run would build it, too; use this
    when setting up a machine or an image.
    """
    from ...runtime.kernel.build import build_kernel, kernel_path, spark_version

    with faults("stopped; nothing was left unfinished"):
        seconds = build_kernel(_tell, anew=force)
        if seconds is None:
            print(f"the kernel for Spark {spark_version()} is already built: {kernel_path()}")
        else:
            print(f"built in {seconds:.1f} s: {kernel_path()}")


@kernel.command("path")
def path() -> None:
    """Print where the built jar is."""
    from ...runtime.kernel.build import kernel_path, spark_version
    from ...runtime.kernel.cache import is_whole

    jar = kernel_path()
    if not is_whole(jar):
        raise UserError(
            f"the kernel for Spark {spark_version()} is not built", "run `streamc kernel build`"
        )
    print(jar)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
