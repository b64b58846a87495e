"""git, and a spec at a revision of its repository."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..shared.report import UserError

if TYPE_CHECKING:
    from ...dsl.reports.source import SourceFile


def read_revision(revision: str, path: str, folder: Path) -> SourceFile:
    """Return the text of a file at a revision of the repository that ``folder`` is in.

    ``path`` is relative to its root, or to ``folder`` when it begins with ``./``. Raises
    ``UserError`` when there is no git, no repository, no such revision, or no such file in it.
    """
    from ...dsl.reports.source import SourceFile, decoded

    git(folder, ["rev-parse", "--git-dir"], f"{folder} is not in a git repository")
    commit_of(folder, revision, f"`{revision}` is neither a spec nor a git revision")
    content = git(
        folder,
        ["cat-file", "blob", f"{revision}:{path}"],
        f"revision `{revision}` has no file {path.removeprefix('./')}",
    )
    try:
        text = decoded(content)
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 at revision `{revision}`") from error
    shown = path if "/" in path else f"./{path}"
    return SourceFile(f"{revision}:{shown}", text)


def commit_of(folder: Path, revision: str, failure: str, help: str | None = None) -> str:
    """Return the id of a revision's commit; raises ``UserError`` when there is none."""
    wanted = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    return git(folder, wanted, failure, help).decode().strip()


def git(folder: Path, arguments: Sequence[str], failure: str, help: str | None = None) -> bytes:
    """Return what git prints in a folder; raises ``UserError`` when it fails or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise UserError("git is not installed, but a revision was requested") from error
    if done.returncode != 0:
        raise UserError(failure, help)
    return done.stdout
