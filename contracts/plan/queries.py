"""Queries of a plan: what Spark runs, and which state each keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..json_records import KEY, Record
from ..records import dataclass
from .values import Column


@dataclass(frozen=True, slots=True)
class Use(Record):
    """An operator in a query, and the part of it that the query keeps.

    ``aggregates`` are the ids of those in use, ``columns`` those of each side of a join,
    ``waiting`` those of a program's inputs, by alias, whose rows wait for their turn.
    """

    id: str
    aggregates: tuple[str, ...] | None = None
    columns: tuple[tuple[Column, ...], ...] | None = None
    waiting: Mapping[str, tuple[Column, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Query(Record):
    """One query of Spark: a relation, the sinks that it feeds, its operators from the sink up."""

    id: str = field(metadata=KEY)
    relation: str
    output_mode: str
    sinks: tuple[str, ...]
    sources: tuple[str, ...]
    tables: tuple[str, ...] = ()
    operators: tuple[Use, ...] = field(kw_only=True)
