"""The repository that the command runs in, at a revision: which files differ, and their content."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..specs.git import commit_of, git

_FILES = (b"100644", b"100755")
"""The modes of files; symbolic links and submodules have others."""


class Base:
    """A revision of the repository that a folder is in; paths are relative to its root.

    Raises ``UserError`` when there is no git, no repository or no such revision.
    """

    def __init__(self, revision: str, folder: Path) -> None:
        self._folder = folder
        told = self._git(["rev-parse", "--show-toplevel"], f"{folder} is not in a git repository")
        self.root = Path(told.decode().removesuffix("\n"))
        self._commit = commit_of(
            folder,
            revision,
            f"`{revision}` is not a git revision",
            "in CI, fetch the history down to it: `git fetch origin BRANCH`",
        )

    def files(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the ids of the contents of all files of the revision in some files or folders."""
        listed = self._git(
            ["ls-tree", "-r", "-z", "--full-name", self._commit, "--", *paths],
            "git cannot list the files of the revision",
        )
        found = {}
        for line in _items(listed):
            mode, _, rest = line.partition(b" ")
            identity, _, name = rest.partition(b"\t")
            if mode in _FILES:
                found[_name(name)] = identity.split()[1].decode()
        return found

    def present(self, paths: Sequence[str]) -> list[str]:
        """Return the files of the working tree in some files or folders, without ignored ones."""
        listed = self._git(
            [
                *("ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard"),
                *("--", *paths),
            ],
            f"{', '.join(paths)} cannot be listed by git",
            "specs are those of the repository that the command runs in",
        )
        names = {_name(item) for item in _items(listed)}
        inside = (name for name in names if not (self.root / name).is_symlink())
        return sorted(name for name in inside if (self.root / name).is_file())

    def content(self, identity: str) -> bytes:
        """Return a content by its id."""
        return self._git(["cat-file", "blob", identity], f"git cannot read {identity}")

    def differing(self, *suffixes: str) -> list[str]:
        """Return the files with one of some endings that are not as they were at the revision."""
        compare = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative"]
        everywhere = ["--", str(self.root)]
        listed = self._git(
            [*compare, self._commit, *everywhere],
            "git cannot compare the working tree with the revision",
        )
        listed += self._git(
            ["ls-files", "-z", "--full-name", "--others", "--exclude-standard", *everywhere],
            "git cannot list untracked files",
        )
        names = {_name(item) for item in _items(listed)}
        return sorted(name for name in names if name.endswith(suffixes))

    def extract(self, folder: PurePosixPath, suffix: str, place: Path) -> None:
        """Write the files of a folder of the revision with a suffix, and those below it."""
        paths = [name for name in self.files([str(self.root / folder)]) if name.endswith(suffix)]
        if not paths:
            return
        packed = self._git(
            ["-C", str(self.root), "archive", "--format=tar", self._commit, "--", *paths],
            "git cannot read the files of the revision",
        )
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            tar.extractall(place, filter="data")

    def _git(self, arguments: list[str], failure: str, help: str | None = None) -> bytes:
        return git(self._folder, ["--literal-pathspecs", *arguments], failure, help)


def _items(listed: bytes) -> Iterator[bytes]:
    return (item for item in listed.split(b"\0") if item)


def _name(item: bytes) -> str:
    return item.decode("utf-8", "surrogateescape")
