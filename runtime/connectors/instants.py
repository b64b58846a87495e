"""Patterns and time zones of texts that are instants, which only Java knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import BAD_OPTION, RuntimeFault
from ..kernel.load import kernel_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_instants(spark: SparkSession, owner: str, settings: Mapping[str, str]) -> None:
    """Raises RuntimeFault for a pattern or a time zone in a reader's settings that does not exist.

    Each of its texts would be malformed.
    """
    jvm: Any = spark._jvm
    zone, pattern = settings.get("timeZone"), settings.get("timestampFormat")
    if zone is not None and not kernel_class(jvm, "Texts").isZone(zone):
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} has timestamp_zone `{zone}`, and there is no such time zone",
            "write 'UTC', an offset such as '+01:00', or a zone such as 'Europe/Oslo'",
        )
    if pattern is not None and not kernel_class(jvm, "Texts").isPattern(pattern):
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} has timestamp_format `{pattern}`, which Spark can't parse by",
            "write a pattern of Spark's, such as 'dd.MM.yyyy HH:mm:ss'",
        )
