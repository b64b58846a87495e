"""Files as reference data; a malformed row of lines ends the run, and so does a NULL there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base.errors import INPUT_MISSING, RuntimeFault
from ...base.options import refuse_rest
from ...kernel.load import java_class, java_list, java_map
from ...plan.settings import seconds
from ...storage.file_system import Storage
from ..instants import check_instants
from ..reading import FAIL, TableDeclaration
from .formats import STRICT, reader_settings, strict_settings, take_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ONCE = -1


def table_of_files(spark: SparkSession, storage: Storage, table: TableDeclaration) -> Any:
    """The kernel's table; raises RuntimeFault for options that mean nothing and a missing path."""
    options, required = dict(table.options), table.required()
    format, path = take_read(table.owner, options)
    settings = reader_settings(table.owner, format, options)
    check_instants(spark, table.owner, settings)
    refuse_rest(table.owner, options)
    if format in STRICT:
        settings |= {**strict_settings(table.owner, required), "streamc.rows": FAIL}
    if not storage.matches(path):
        raise RuntimeFault(
            INPUT_MISSING,
            f"{table.owner} reads {path}, and there is no such file or folder",
            "create it, or pass the right path",
        )
    jvm: Any = spark._jvm
    return storage.kernel.Tables.files(
        spark._jsparkSession,
        table.owner,
        STRICT.get(format, format),
        java_class(jvm, "org.apache.spark.sql.types.DataType").fromJson(table.columns.json()),
        java_map(jvm, settings),
        path,
        java_list(jvm, required),
        _ONCE if table.refresh is None else int(seconds(table.refresh) * 1000),
    )
