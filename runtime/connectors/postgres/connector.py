"""PostgreSQL: what the runtime has to know of it."""

from __future__ import annotations

from collections.abc import Mapping

from ....contracts.sinks import SINKS
from ...spark.packages import Package
from ..interface import Connector, SinkRole
from .sink import PostgresSink


class PostgresSinkRole(SinkRole):
    """A table that rows are added to, or replaced in."""

    promise = SINKS["postgres"]
    writer = PostgresSink
    distributions = ("psycopg",)

    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        """It is reached from Python, not by Spark."""
        return ()


class Postgres(Connector):
    """PostgreSQL."""

    name = "postgres"
    source = None
    table = None
    sink = PostgresSinkRole()
