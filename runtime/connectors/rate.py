"""Rows that are made up at a steady rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..base.options import refuse_rest, spark_options
from ..spark.packages import Package
from ..storage.file_system import Storage
from .interface import Connector, Lack, ReadBefore, Replay, SourceRole
from .reading import Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RateReplay(Replay):
    """A row is made of its instant, and comes again whenever it is asked for."""

    batches = None

    def lacks(self, source: ReadBefore) -> Iterator[Lack]:
        yield from ()


class RateSourceRole(SourceRole):
    """Rows with an instant and a number."""

    replay = RateReplay()

    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        return ()

    def read(self, spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
        options = dict(source.options)
        rows = options.pop("rows_per_second", 1)
        settings = {"rowsPerSecond": str(rows), **spark_options(options)}
        refuse_rest(source.owner, options)
        frame = spark.readStream.name(source.name).format("rate").options(**settings).load()
        return Reading(frame.select(*[frame[field.name] for field in source.columns.fields]))


class Rate(Connector):
    """A clock that gives rows."""

    name = "rate"
    source = RateSourceRole()
    table = None
    sink = None
