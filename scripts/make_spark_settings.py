"""Write the names of Spark's settings from the PySpark that is installed.

    python scripts/make_spark_settings.py        # writes dsl/spark_settings.json

They come from Spark's own registry, to which each of its classes adds when it is loaded, and from a
list here of those that Spark reads without registering them. Run it after a change of the PySpark
version.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

WRITTEN = Path(__file__).parents[1] / "dsl" / "settings" / "spark_settings.json"
DECLARING = re.compile(r"(internal/config/\w+|/[Cc]onfig|/package|HiveUtils|Conf)\$\.class$")
"""Classes that declare settings."""

_ROCKSDB = """allowFAllocate blockCacheSizeMB blockSizeKB boundedMemoryUsage
changelogCheckpointing.enabled compactOnCommit compression highPriorityPoolRatio
lockAcquireTimeoutMs maxMemoryUsageMB maxOpenFiles maxWriteBufferNumber reportSnapshotUploadLag
resetStatsOnLoad trackTotalNumberOfRows verifyNonEmptyFilesInZip writeBufferCacheRatio
writeBufferSizeMB"""
UNREGISTERED = (
    *(f"spark.sql.streaming.stateStore.rocksdb.{name}" for name in _ROCKSDB.split()),
    *(f"spark.{name}" for name in "app.name driver.defaultJavaOptions driver.libraryPath".split()),
    *(f"spark.executor.{name}" for name in "defaultJavaOptions libraryPath".split()),
    *(f"spark.files.{name}" for name in "fetchTimeout overwrite useFetchCache".split()),
    *(f"spark.{name}" for name in "local.dir logConf master hadoop.cloneConf".split()),
    "spark.hadoop.validateOutputSpecs",
    "spark.sql.streaming.checkpointFileManagerClass",
)


def main() -> None:
    """Ask Spark for the names and write the file."""
    builder: Any = SparkSession.builder
    spark = builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    java = spark._jvm.java.lang
    loader = java.Thread.currentThread().getContextClassLoader()
    for name in _declaring_classes():
        try:
            java.Class.forName(name, True, loader)
        except Py4JError:
            continue  # of a part that is not on the class path: Hive, say
    registry = java.Class.forName("org.apache.spark.internal.config.ConfigEntry$")
    field = registry.getDeclaredField("knownConfigs")
    field.setAccessible(True)
    known = {str(name) for name in field.get(None).keySet().toArray()} | set(UNREGISTERED)
    names = sorted(n for n in known if n.startswith("spark.") and not n.startswith("spark.test"))
    lines = ",\n".join(map(json.dumps, names))
    text = f'{{"spark":{json.dumps(pyspark.__version__)},"settings":[\n{lines}\n]}}\n'
    WRITTEN.write_text(text, encoding="utf-8")
    print(f"{len(names)} settings of Spark {pyspark.__version__} -> {WRITTEN.name}")
    spark.stop()


def _declaring_classes() -> list[str]:
    jars = (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar")
    found = (name for jar in sorted(jars) for name in ZipFile(jar).namelist())
    return [name[:-6].replace("/", ".") for name in found if DECLARING.search(name)]


if __name__ == "__main__":
    main()
