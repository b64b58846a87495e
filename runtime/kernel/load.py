"""Puts the kernel on a session's class path, whichever way the session was started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SPARK_VERSION, RuntimeFault

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROPERTY = "streamc.kernel"
_PACKAGE = "org.apache.spark.sql.streamc"


def load_kernel(spark: SparkSession, jar: Path) -> Any:
    """The kernel's package on the session's JVM; loading it twice is once.

    The jar is added to the class loader that Spark made for added jars, so that `python`,
    `spark-submit` and a session that the caller started are one case, and to the executors.
    """
    jvm: Any = spark._jvm
    if jvm.java.lang.System.getProperty(_PROPERTY) is None:
        _class_loader(jvm).addURL(jvm.java.io.File(str(jar)).toURI().toURL())
        spark._jsc.addJar(str(jar))
        _package(jvm).LocalFiles.install(spark._jsc.sc())
        jvm.java.lang.System.setProperty(_PROPERTY, str(jar))
    return _package(jvm)


def _package(jvm: Any) -> Any:
    package = jvm
    for part in _PACKAGE.split("."):
        package = getattr(package, part)
    return package


def _class_loader(jvm: Any) -> Any:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader is not None:
        if loader.getClass().getName().endswith("MutableURLClassLoader"):
            return loader
        loader = loader.getParent()
    raise RuntimeFault(
        SPARK_VERSION,
        "this Spark session has no class loader for added jars",
        "run the script with `python` or `spark-submit`",
    )


def java_map(jvm: Any, values: Mapping[str, str]) -> Any:
    """A map that the kernel's methods take."""
    found = jvm.java.util.HashMap()
    for key, value in values.items():
        found.put(key, value)
    return found


def java_list(jvm: Any, values: Iterable[str]) -> Any:
    """A list that the kernel's methods take."""
    found = jvm.java.util.ArrayList()
    for value in values:
        found.add(value)
    return found
