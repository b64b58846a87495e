"""Files: what the runtime has to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....contracts.sinks import SINKS
from ...spark.packages import Package
from ...storage.file_system import Storage
from ..interface import Connector, Role, SinkRole, SourceRole, TableRole
from ..reading import Declaration, Reading, TableDeclaration
from .formats import format_packages
from .replay import FilesReplay
from .sink import FileSink
from .source import read_files
from .table import table_of_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _OfFiles(Role):
    """What its roles have in common."""

    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        return format_packages(options.get("format"))


class FilesSourceRole(_OfFiles, SourceRole):
    """The files of a folder as they arrive."""

    replay = FilesReplay()

    def read(self, spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
        return read_files(spark, storage, source)


class FilesTableRole(_OfFiles, TableRole):
    """The files that a folder has when a batch begins."""

    def table(self, spark: SparkSession, storage: Storage, table: TableDeclaration) -> Any:
        return table_of_files(spark, storage, table)


class FilesSinkRole(_OfFiles, SinkRole):
    """Files that are added to a folder, a batch's at once."""

    promise = SINKS["files"]
    writer = FileSink
    distributions = ()


class Files(Connector):
    """Files on any path that Hadoop knows."""

    name = "files"
    source = FilesSourceRole()
    table = FilesTableRole()
    sink = FilesSinkRole()
