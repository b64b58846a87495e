"""Files on any Hadoop path, through the kernel: one JVM call per step."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..base.errors import STORE_UNSAFE, RuntimeFault
from ..kernel.load import java_class, java_list, java_map, kernel_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of a batch on disk; those of a batch are in the order of its rows."""

    name: str
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Written:
    """A batch on disk: the number of rows, and their files."""

    rows: int
    files: tuple[WrittenFile, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A small file as it was read: `token` tells it from its other versions.

    `written` is in seconds by the clock of its file system.
    """

    text: str
    token: str
    written: float


class Files(Protocol):
    """Whole small files in folders, as notes need them, with or without a JVM."""

    def list(self, folder: str) -> list[str]: ...

    def read(self, path: str) -> str | None: ...

    def create(self, path: str, text: str) -> None: ...

    def replace(self, path: str, text: str) -> None: ...

    def delete(self, paths: Sequence[str]) -> None: ...

    def modified(self, path: str) -> float | None: ...

    def version(self, path: str) -> Version | None: ...


class VersionedFiles(Files, Protocol):
    """Files of a store without locks, of which one writer at a time exchanges a version."""

    def refusal(self, folder: str) -> str | None:
        """Why writers can't be kept apart in a folder; None if they can."""
        ...

    def exchange(self, path: str, text: str, expected: str | None) -> bool:
        """Writes the version after the one with this token, the first after None.

        Of all who exchange one version one succeeds; returns whether this call did. Texts that
        follow each other must differ. The file is then read by `version`, and by nothing else.
        """
        ...


class Told:
    """An object of the kernel whose exceptions are told as faults."""

    def __init__(self, own: Any, fault: Callable[[Exception], RuntimeFault]) -> None:
        self._own = own
        self._fault = fault

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from py4j.protocol import Py4JError

        method = getattr(self._own, name)

        def call(*arguments: object) -> Any:
            try:
                return method(*arguments)
            except (Py4JError, OSError) as error:
                thrown: Any = getattr(error, "java_exception", None)
                kind = "" if thrown is None else str(thrown.getClass().getSimpleName())
                if kind == "FileAlreadyExistsException":
                    raise FileExistsError(str(arguments[0])) from None
                raise self._fault(error) from None

        return call


class HadoopFiles:
    """Files on any file system that Hadoop reaches, by its settings in a JVM with the kernel.

    Paths are strings in Hadoop's form.
    """

    def __init__(
        self, jvm: Any, conf: Any, fault: Callable[[Exception], RuntimeFault] | None = None
    ) -> None:
        """With `fault`, what a call raises becomes one; else it is raised as it is."""
        self._jvm = jvm
        self._files = kernel_class(jvm, "Files")(conf)
        self.checks = kernel_class(jvm, "Checks")(conf)
        if fault is not None:
            self._files, self.checks = (Told(one, fault) for one in (self._files, self.checks))

    def qualified(self, path: str) -> str:
        """The path with its scheme, absolute."""
        return str(self._files.qualified(path))

    def local_path(self, path: str) -> Path | None:
        """The path on this machine's disk, or None when it is not there."""
        found = self._files.localPath(path)
        return None if found is None else Path(found)

    def matches(self, path: str) -> bool:
        """Whether the path exists, or for a glob whether anything matches it."""
        return bool(self._files.matches(path))

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none when there is no folder."""
        # Iterating over a Java list ends with an exception, which is slow in PySpark.
        return [str(name) for name in json.loads(self._files.list(folder))]

    def read(self, path: str) -> str | None:
        """A file's text, or None when there is no such file."""
        found = self._files.read(path)
        return None if found is None else str(found)

    def modified(self, path: str) -> float | None:
        """When a file was written, in seconds by its file system's clock; None without a file."""
        found = int(self._files.modified(path))
        return None if found < 0 else found / 1000

    def create(self, path: str, text: str) -> None:
        """Writes a new file that appears whole or not at all; an existing one is an error.

        Raises RuntimeFault for a store where two writers could both succeed.
        """
        if (reason := self._files.create(path, text)) is not None:
            raise unsafe_store(path, str(reason))

    def replace(self, path: str, text: str) -> None:
        """Writes a file in place of what is there; readers see the old one or the new one."""
        self._files.replace(path, text)

    def refusal(self, folder: str) -> str | None:
        found = self._files.refusal(folder)
        return None if found is None else str(found)

    def version(self, path: str) -> Version | None:
        """The newest version of a file, or None when there is none."""
        found = self._files.version(path)
        if found is None:
            return None
        text, token, milliseconds = json.loads(found)
        return Version(text, token, milliseconds / 1000)

    def exchange(self, path: str, text: str, expected: str | None) -> bool:
        return bool(self._files.exchange(path, text, expected))

    def move(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Renames files, except those already moved by an earlier call."""
        old, new = [a for a, _ in pairs], [b for _, b in pairs]
        self._files.move(java_list(self._jvm, old), java_list(self._jvm, new))

    def delete(self, paths: Sequence[str]) -> None:
        """Removes files and whole folders, ignoring missing ones."""
        if paths:
            self._files.delete(java_list(self._jvm, paths))

    def lengths(self, folder: str, prefix: str = "") -> dict[str, int]:
        """The lengths by name of the files in a folder whose names have this prefix."""
        found = json.loads(self._files.lengths(folder, prefix))
        return {str(name): int(length) for name, length in found.items()}

    def intact(self, path: str) -> bool:
        """Whether a file that Spark wrote can be read completely, by the checksums of its store."""
        return bool(self._files.intact(path))


class Storage(HadoopFiles):
    """The files of one session."""

    def __init__(self, kernel: Any, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        super().__init__(jvm, spark._jsparkSession.sessionState().newHadoopConf())
        self.kernel = kernel
        self.session = spark

    def jvm_process(self) -> int:
        """The PID of the JVM."""
        return int(java_class(self._jvm, "java.lang.ProcessHandle").current().pid())

    def keep_private(self, folder: str | Path) -> None:
        """Makes everything that Spark writes below a local folder inherit its permissions."""
        self.kernel.LocalFiles.keepPrivate(str(folder))

    def write(
        self, batch: DataFrame, format: str, options: dict[str, str], folder: str, roll: int = 0
    ) -> Written:
        """Writes a batch with Spark into a folder of its own, replacing its content.

        A file of about `roll` bytes is followed by another, unless that is zero.
        """
        given = java_map(self._jvm, options)
        report = json.loads(self._files.write(batch._jdf, format, given, folder, roll))
        files = (WrittenFile(f["name"], f["bytes"], f["rows"]) for f in report["files"])
        return Written(report["rows"], tuple(files))


def unsafe_store(path: str, reason: str) -> RuntimeFault:
    """The fault for a store that can't keep the state of a job."""
    return RuntimeFault(
        STORE_UNSAFE,
        f"{path} is in a store where two jobs could both have a state: {reason}",
        "keep the state on a disk, on HDFS, or under s3a: in a store with conditional writes,\n"
        "with `fs.s3a.create.conditional.enabled` as it is by default",
    )
