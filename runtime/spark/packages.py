"""Parts of Spark that do not come with PySpark: fetched only when a pipeline uses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.errors import PACKAGE_MISSING, RuntimeFault
from ..kernel.load import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING = "spark.jars.packages"


@dataclass(frozen=True, slots=True)
class Package:
    """What a connector or a format needs, which is the ``part``.

    Its coordinates in Maven Central, and a class that shows its presence.
    """

    part: str
    coordinates: str
    known_by: str


def fetching(settings: Mapping[str, str], packages: Iterable[Package]) -> dict[str, str]:
    """Spark settings that make a Spark about to start fetch these packages too.

    Packages that the settings already name, in any version, are left to them.
    """
    named = [part.strip() for part in settings.get(SETTING, "").split(",") if part.strip()]
    known = {part.rpartition(":")[0] for part in named}
    for package in packages:
        if package.coordinates.rpartition(":")[0] not in known:
            named.append(package.coordinates)
    return {**settings, SETTING: ",".join(named)} if named else dict(settings)


def check_packages(spark: SparkSession, packages: Iterable[Package]) -> None:
    """Raises RuntimeFault when a running Spark lacks a package, which can no longer be added."""
    for package in packages:
        if not _has_class(spark, package.known_by):
            raise RuntimeFault(
                PACKAGE_MISSING,
                f"this Spark has no package for `{package.part}`",
                f"start it with {package.coordinates}: `--packages` of spark-submit, or "
                f"`{SETTING}` of the session",
            )


def _has_class(spark: SparkSession, name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    loader = java_class(jvm, "java.lang.Thread").currentThread().getContextClassLoader()
    try:
        # Not `Class.forName(name)`: packages are in the thread's class loader.
        java_class(jvm, "java.lang.Class").forName(name, False, loader)
    except Py4JJavaError:
        return False
    return True
