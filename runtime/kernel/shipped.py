"""The kernel that comes with a packaged pipeline: a jar that Spark was started with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..base.submitted import distributed_folders, is_submitted
from .build import kernel_name
from .cache import is_whole
from .load import SHIPPED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def shipped_name() -> str:
    """The name of the jar for the installed PySpark and these sources."""
    return f"{SHIPPED}{kernel_name()}"


def shipped_kernel(given: SparkSession | None) -> Path | None:
    """The jar that this Spark was started with (`--jars`, `--files`), None without one.

    Only one built from these sources for this Spark counts: its name says so.
    """
    name = shipped_name()
    jars = [Path(unquote(urlsplit(jar).path)) for jar in _jars(given).split(",")]
    near = [folder / name for folder in distributed_folders()]
    found = (jar for jar in (*jars, *near) if jar.name == name)
    return next((jar for jar in found if is_whole(jar)), None)


def _jars(given: SparkSession | None) -> str:
    """`spark.jars` of a session, or of the JVM that `spark-submit` has started."""
    if given is not None:
        return str(given.sparkContext.getConf().get("spark.jars", "") or "")
    if not is_submitted():
        return ""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return str(SparkConf().get("spark.jars", "") or "")
