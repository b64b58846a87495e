"""Reference data: the implementation of `job.table`. The kernel reads and keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import TABLE_UNREADABLE, RuntimeFault
from ..base.options import choose
from ..spark.failures import java_exception, reason_of, spark_errors, spark_refuses
from ..storage.file_system import Storage
from .reading import TableDeclaration
from .registry import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class Tables:
    """The tables of one job, each read once or after an interval, the same for all queries."""

    def __init__(self, spark: SparkSession, storage: Storage) -> None:
        self._spark = spark
        self._storage = storage
        self._tables: dict[str, Any] = {}

    def add(
        self,
        name: str,
        connector: str,
        columns: StructType,
        refresh: str | None,
        options: Mapping[str, Any],
    ) -> DataFrame:
        """The rows of a table as a frame for joins; it is read by `read`, or when it is planned.

        Raises RuntimeFault for a missing path and for options that the connector does not have.
        """
        from pyspark.sql import DataFrame

        declared = TableDeclaration(name, columns, refresh, options)
        role = choose(connector, TABLES, declared.owner, "connector")
        self._tables[name] = role.table(self._spark, self._storage, declared)
        return DataFrame(self._tables[name].frame(), self._spark)

    def read(self, state: str) -> None:
        """Reads all tables before a query starts; raises RuntimeFault when one is unreadable."""
        for name, table in self._tables.items():
            try:
                table.read()
            except spark_errors() as error:
                java = java_exception(error)
                if java is None:
                    raise spark_refuses(f"table `{name}`", error, state) from None
                reason = reason_of(java)
                if not reason.startswith(f"table `{name}` "):
                    reason = f"table `{name}` cannot be read: {reason}"
                raise RuntimeFault(
                    TABLE_UNREADABLE,
                    reason,
                    "fix the named file, and start again",
                ) from None
