"""Files on any Hadoop path, through the kernel: one call of the JVM a step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Written:
    """A batch on disk: how many rows, and each file's name and length in bytes."""

    rows: int
    files: tuple[tuple[str, int], ...]


class Storage:
    """The files of one session; paths are strings as Hadoop takes them."""

    def __init__(self, kernel: Any, spark: SparkSession) -> None:
        self.kernel = kernel
        self._files = kernel.Files(spark._jsparkSession)
        self._gateway: Any = spark._sc._gateway

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
        return [str(name) for name in self._files.list(folder)]

    def read(self, path: str) -> str | None:
        """A file's text, or None when there is no such file."""
        found = self._files.read(path)
        return None if found is None else str(found)

    def create(self, path: str, text: str) -> None:
        """Writes a new file that appears whole or not at all; an existing one is an error."""
        self._files.create(path, text)

    def replace(self, path: str, text: str) -> None:
        """Writes a file in place of what is there; readers see the old one or the new one."""
        self._files.replace(path, text)

    def move(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Renames files; those that a call before this one has moved already are left."""
        self._files.move(self._strings([a for a, _ in pairs]), self._strings([b for _, b in pairs]))

    def delete(self, paths: Sequence[str]) -> None:
        """Removes files and whole folders; what is not there is no error."""
        self._files.delete(self._strings(paths))

    def write(self, batch: DataFrame, format: str, options: dict[str, str], folder: str) -> Written:
        """Writes a batch with Spark into a folder of its own, replacing what was there."""
        given = self._gateway.jvm.java.util.HashMap()
        for name, value in options.items():
            given.put(name, value)
        report = json.loads(self._files.write(batch._jdf, format, given, folder))
        return Written(
            report["rows"],
            tuple((file["name"], file["bytes"]) for file in report["files"]),
        )

    def _strings(self, values: Sequence[str]) -> Any:
        strings = self._gateway.jvm.java.util.ArrayList()
        for value in values:
            strings.add(value)
        return strings
