"""Whether `spark-submit` has started this process, and where it puts what it was given."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def is_submitted() -> bool:
    """Whether a JVM has started this process, rather than the other way round."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def distributed_folders() -> list[Path]:
    """Where `--files` and `--jars` are on the driver: the working directory, and Spark's folder.

    YARN and Kubernetes put them into the working directory of a driver on the cluster. Spark's
    folder has `--files` once it has started. There are none in a process that `spark-submit` has
    not started.
    """
    if not is_submitted():
        return []
    pyspark = sys.modules.get("pyspark")
    if pyspark is None or pyspark.SparkContext._active_spark_context is None:
        return [Path.cwd()]
    return [Path.cwd(), Path(pyspark.SparkFiles.getRootDirectory())]
