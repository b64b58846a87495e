"""Reference data: what `job.table` makes of a declaration. The kernel reads and keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import INPUT_MISSING, TABLE_UNREADABLE, RuntimeFault
from ..base.options import choose
from ..kernel.load import java_class, java_list, java_map
from ..plan.settings import seconds
from ..spark.failures import java_exception, reason_of, spark_errors, spark_refuses
from ..storage.file_system import Storage
from .files import batch_reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_ONCE = -1


class Tables:
    """The tables of one job, each read once or after an interval, the same for all queries."""

    def __init__(self, spark: SparkSession, kernel: Any, storage: Storage) -> None:
        self._spark = spark
        self._kernel = kernel
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

        Raises RuntimeFault for a path that is not there and for options that the connector has not.
        """
        from pyspark.sql import DataFrame

        owner = f"table `{name}`"
        choose(connector, {"files": None}, owner, "connector")
        required = [field.name for field in columns.fields if not field.nullable]
        reading = batch_reading(owner, options, required)
        if not self._storage.matches(reading.path):
            raise RuntimeFault(
                INPUT_MISSING,
                f"{owner} reads {reading.path}, and there is no such file or folder",
                "create it, or pass the right path",
            )
        jvm: Any = self._spark._jvm
        self._tables[name] = self._kernel.Tables.files(
            self._spark._jsparkSession,
            owner,
            reading.format,
            java_class(jvm, "org.apache.spark.sql.types.DataType").fromJson(columns.json()),
            java_map(jvm, reading.settings),
            reading.path,
            java_list(jvm, required),
            _ONCE if refresh is None else int(seconds(refresh) * 1000),
        )
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
                    "mend the file that is named, and start again",
                ) from None
