"""Sources: the implementation of `job.read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.options import choose
from ..storage.file_system import Storage
from .reading import POLICIES, Declaration, Reading
from .registry import SOURCES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_source(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    """The rows of a source as a streaming frame, under its own name, and its malformed rows.

    Raises RuntimeFault for an unknown connector or option, and for a missing path.
    """
    choose(source.malformed_rows, dict.fromkeys(POLICIES), source.owner, "malformed_rows")
    role = choose(source.connector, SOURCES, source.owner, "connector")
    return role.read(spark, storage, source)
