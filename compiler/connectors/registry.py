"""All connectors."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.pipeline import Source, Table
from .console import Console
from .discard import Discard
from .files import Files
from .interface import Connector, Reader, SinkRole, SourceRole, TableRole
from .kafka import Kafka
from .memory import Memory
from .postgres import Postgres
from .python import Python
from .rate import Rate

CONNECTORS: tuple[Connector, ...] = (
    Files(),
    Kafka(),
    Rate(),
    Postgres(),
    Console(),
    Memory(),
    Discard(),
    Python(),
)
"""In the order in which messages and the reference list them."""

NOT_BUILT = ("table",)
"""Names in the language that this version does not run."""

SOURCES: Mapping[str, SourceRole] = {
    one.name: one.source for one in CONNECTORS if one.source is not None
}
TABLES: Mapping[str, TableRole] = {
    one.name: one.table for one in CONNECTORS if one.table is not None
}
SINKS: Mapping[str, SinkRole] = {one.name: one.sink for one in CONNECTORS if one.sink is not None}
"""What can be read and written, by the names of the connectors."""


def reader_of(declared: Source | Table) -> Reader:
    """Return how a source or table is read."""
    known: Mapping[str, Reader] = TABLES if isinstance(declared, Table) else SOURCES
    return known[declared.endpoint.connector]
