"""``streamc review``: what a change to specs does, as a comment on a pull request."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared.output import json_text
from ..shared.report import UserError

if TYPE_CHECKING:
    from ...contracts.outputs.review import Review
    from ..savepoints.dry_run import Saved


class ReviewFormat(StrEnum):
    """How a review is printed."""

    MARKDOWN = "markdown"
    JSON = "json"


def review(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE", help="The git revision to compare with.", show_default=False
        ),
    ],
    specs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SPECS]...",
            help="Specs, or folders with specs; default: all of the repository.",
            show_default=False,
        ),
    ] = None,
    savepoint: Annotated[
        str | None,
        typer.Option(
            "--savepoint", metavar="NAME", help="Show how much its operators keep; name or folder."
        ),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="DIR", help="The state folder of the savepoint."),
    ] = None,
    format: Annotated[
        ReviewFormat, typer.Option("--format", help="Output format.")
    ] = ReviewFormat.MARKDOWN,
) -> None:
    """Describe how specs differ from a git revision, for a comment on a pull request.

    For each spec that differs: mistakes in it, what becomes of each part of the state, the
    decisions that `migrations/OLD-to-NEW.yaml` next to it has yet to take, with a draft, and the
    diff of the emitted code. Starts no Spark; sizes are those in the savepoint's manifest.

    Exit codes: 0 all compile to the same, 1 some do not, 2 a spec or a migration file has errors.
    """
    if savepoint is None and state is not None:
        raise UserError("`--state` needs a savepoint", "pass `--savepoint`")
    from ..savepoints.dry_run import saved_in

    saved = None if savepoint is None else saved_in(savepoint, state)
    found = _review(base, [path.as_posix() for path in specs or []], saved)
    if saved is not None and not any(spec["savepoint"] for spec in found["specs"]):
        print(
            f"savepoint {saved.name} is of `{saved.pipeline}`, of which no spec differs",
            file=sys.stderr,
        )
    if format is ReviewFormat.JSON:
        sys.stdout.write(json_text(found))
    else:
        from .markdown import markdown

        sys.stdout.write(markdown(found))
    raise typer.Exit(found["exit_code"])


def _review(revision: str, paths: list[str], saved: Saved | None) -> Review:
    from .base import Base
    from .build import reviewed
    from .find import changed_specs

    base = Base(revision, Path())
    with TemporaryDirectory() as scratch:
        pairs = changed_specs(base, paths, Path(scratch))
    return reviewed(base, revision, pairs, saved)
