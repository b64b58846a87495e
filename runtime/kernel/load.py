"""Puts the kernel on a session's class path, however the session was started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import SPARK_VERSION, RuntimeFault
from ..base.submitted import is_submitted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHIPPED = "streamc-kernel-"
"""How the name of a packaged kernel begins."""

_PROPERTY = "streamc.kernel"
_PACKAGE = "org.apache.spark.sql.streamc"


def load_kernel(spark: SparkSession, jar: Path) -> Any:
    """The kernel's package in the session's JVM; loading it again has no effect.

    The jar is added to the executors and to the class loader that Spark created for added jars, so
    that `python`, `spark-submit` and a session started by the caller are one case.
    """
    jvm: Any = spark._jvm
    system = java_class(jvm, "java.lang.System")
    if system.getProperty(_PROPERTY) is None:
        _add(spark, jvm, jar)
        kernel_class(jvm, "LocalFiles").install(spark._jsc.sc())
        if not is_submitted():
            # This process has started the JVM; under `spark-submit` the JVM starts this process.
            kernel_class(jvm, "Parent").watch(os.getpid())
        system.setProperty(_PROPERTY, str(jar))
    return getattr(jvm, _PACKAGE)


def _add(spark: SparkSession, jvm: Any, jar: Path) -> None:
    """Adds the jar, unless Spark was started with it.

    Raises RuntimeFault when it was started with the jar of another version: the driver would use
    that one, and executors this one.
    """
    jars: Any = spark._jsc.sc().listJars()
    names = [str(jars.apply(n)).rpartition("/")[2] for n in range(jars.size())]
    if jar.name in names:
        return
    other = next((name for name in names if name.startswith(SHIPPED)), None)
    if other is not None:
        raise RuntimeFault(
            SPARK_VERSION,
            f"this Spark was started with {other}, the kernel of another version of streamc",
            "pass all files of one package: `streamc package` prints the command",
        )
    add_to_class_path(jvm, jar)
    spark._jsc.addJar(str(jar))


def add_to_class_path(jvm: Any, jar: Path) -> None:
    """Makes the classes of a jar known to a JVM that Spark's own scripts have started."""
    _class_loader(jvm).addURL(java_class(jvm, "java.io.File")(str(jar)).toURI().toURL())


def java_class(jvm: Any, name: str) -> Any:
    """A class of the JVM by its full name.

    In `jvm.java.util.HashMap`, each part but the last is first looked up as a class in every jar,
    at every use.
    """
    return getattr(jvm, name)


def kernel_class(jvm: Any, name: str) -> Any:
    """A class of the kernel, which has been loaded."""
    return java_class(jvm, f"{_PACKAGE}.{name}")


def _class_loader(jvm: Any) -> Any:
    loader = java_class(jvm, "java.lang.Thread").currentThread().getContextClassLoader()
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
    """A map for the kernel's methods."""
    found = java_class(jvm, "java.util.HashMap")()
    for key, value in values.items():
        found.put(key, value)
    return found


def java_list(jvm: Any, values: Iterable[Any]) -> Any:
    """A list for the kernel's methods."""
    found = java_class(jvm, "java.util.ArrayList")()
    for value in values:
        found.add(value)
    return found
