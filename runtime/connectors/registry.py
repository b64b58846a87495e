"""The connectors that there are: each once, and whole."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

from ...contracts.plan import Plan
from ..spark.packages import Package
from .console import Console
from .discard import Discard
from .files.connector import Files
from .interface import Connector, SinkRole, SourceRole, TableRole
from .kafka.connector import Kafka
from .memory import Memory
from .postgres.connector import Postgres
from .python import Python
from .rate import Rate


def checked(*connectors: Connector) -> tuple[Connector, ...]:
    """These connectors; raises TypeError for a sink whose class leaves something out.

    Roles that do can't be made in the first place, while sinks are made when a run begins.
    """
    for one in connectors:
        if one.sink is not None and inspect.isabstract(one.sink.writer):
            missing = ", ".join(sorted(getattr(one.sink.writer, "__abstractmethods__", ())))
            raise TypeError(f"the sink of connector {one.name} lacks {missing}")
    return connectors


CONNECTORS = checked(
    Files(),
    Kafka(),
    Rate(),
    Postgres(),
    Console(),
    Memory(),
    Discard(),
    Python(),
)
"""In the order of the compiler's."""

SOURCES: Mapping[str, SourceRole] = {
    one.name: one.source for one in CONNECTORS if one.source is not None
}
TABLES: Mapping[str, TableRole] = {
    one.name: one.table for one in CONNECTORS if one.table is not None
}
SINKS: Mapping[str, SinkRole] = {one.name: one.sink for one in CONNECTORS if one.sink is not None}
"""What can be read and written, by the names of the connectors."""


def packages_of(plan: Plan) -> tuple[Package, ...]:
    """What Spark needs besides for all that a plan reads and writes, each once."""
    return tuple(dict.fromkeys(_packages(plan)))


def _packages(plan: Plan) -> Iterator[Package]:
    for source in plan.sources.values():
        yield from SOURCES[source.connector].packages(source.options)
    for table in plan.tables.values():
        yield from TABLES[table.connector].packages(table.options)
    for sink in plan.sinks.values():
        yield from SINKS[sink.connector].packages(sink.options)
