"""Every call of the runtime that changes the disk, by name, and the end of the process at one.

The end is an exception from one call on: a process that is gone tidies nothing up, so what would be
done on the way out fails too. Of a folder that it was taking away, half is gone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from streamc.runtime.savepoints.restore import restore
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.file_system import Storage
from streamc.runtime.storage.local_files import LocalFiles

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DRAFT = re.compile(r"^.*/\.[^/]+\.tmp/")


class Killed(BaseException):
    """Stands in for the end of the process."""


class DiskSteps:
    """The steps of what runs within `watched`, one per line.

    With `dies_at` it dies at the step of that number, or at the first that begins so.
    """

    def __init__(self, patch: pytest.MonkeyPatch, state: Path) -> None:
        self.steps: list[str] = []
        self.dead = False
        self._dies_at: int | str | None = None
        self._state = f"{state}/"
        self._watched: int | None = None
        for owner, names in (
            (LocalDisk, ("link", "rename")),
            (LocalFiles, ("create", "replace", "delete")),
            (Storage, ("create", "replace", "delete", "move", "write")),
        ):
            for name in names:
                patch.setattr(owner, name, self._counted(name, getattr(owner, name)))
        patch.setattr(LocalFiles, "_temporary", self._written(LocalFiles._temporary))
        patch.setattr(restore, "run_to", self._first_batch(restore.run_to))

    @contextmanager
    def watched(self, dies_at: int | str | None = None) -> Iterator[None]:
        # A lease is renewed from a separate thread.
        self._watched = threading.get_ident()
        self.steps, self.dead, self._dies_at = [], False, dies_at
        try:
            yield
        finally:
            self._watched = None

    def kernel(self, kernel: Any) -> Any:
        """The kernel, whose writer of state counts too."""
        return _Kernel(self, kernel)

    def step(self, name: str, path: str) -> bool:
        """Records a step; returns whether it is the last of the process. Raises Killed after it."""
        if self._watched != threading.get_ident():
            return False
        if self.dead:
            raise Killed
        self.steps.append(f"{name} {self._shown(path)}")
        match self._dies_at:
            case int(number):
                self.dead = len(self.steps) > number
            case str(begun):
                self.dead = self.steps[-1].startswith(begun)
        return self.dead

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(owner: Any, *arguments: Any, **named: Any) -> Any:
            if self.step(name, _target(name, arguments)):
                if name == "delete":
                    _take_half(arguments[0])
                raise Killed
            return call(owner, *arguments, **named)

        return counted

    def _written(self, call: Callable[..., Path]) -> Callable[..., Path]:
        """The hidden file as which a new one begins: it exists, but was never renamed."""

        def written(owner: LocalFiles, path: str, text: str) -> Path:
            found = call(owner, path, text)
            if self.step("write", path):
                raise Killed
            return found

        return written

    def _first_batch(self, call: Callable[..., None]) -> Callable[..., None]:
        def first_batch(draft: Any, query: Any, *more: Any) -> None:
            if self.step("first batch", query.id):
                raise Killed
            call(draft, query, *more)

        return first_batch

    def _shown(self, path: str) -> str:
        inner = _DRAFT.sub("", path.removeprefix("file:"))
        return _UUID.sub("*", inner.removeprefix(self._state))


class _Kernel:
    def __init__(self, steps: DiskSteps, kernel: Any) -> None:
        self._steps = steps
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    @property
    def StateWriter(self) -> _Kernel:
        return self

    def replace(
        self, session: Any, checkpoint: str, operator: int, store: str, prefix: int, rows: Any
    ) -> int:
        if self._steps.step("state", f"{checkpoint}/state/{operator}/{store}"):
            raise Killed
        writer = self._kernel.StateWriter
        return int(writer.replace(session, checkpoint, operator, store, prefix, rows))

    def begin(self, session: Any, checkpoint: str, operator: int, frame: Any, rows: Any) -> int:
        if self._steps.step("state", f"{checkpoint}/state/{operator}/default"):
            raise Killed
        return int(self._kernel.StateWriter.begin(session, checkpoint, operator, frame, rows))


def _target(name: str, arguments: Sequence[Any]) -> str:
    """Which of a call's arguments names what it creates or removes."""
    match name:
        case "link" | "rename":
            return str(arguments[1])
        case "delete":
            return ", ".join(arguments[0])
        case "write":
            return str(arguments[3])
    return str(arguments[0])


def _take_half(paths: Sequence[str]) -> None:
    for path in paths:
        for file in sorted(path for path in Path(path).rglob("*") if path.is_file())[::2]:
            file.unlink()
