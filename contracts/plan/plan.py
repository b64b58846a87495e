"""The plan as a whole."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from typing import ClassVar

from ..json_records import Malformed, Record
from ..records import dataclass
from .ends import Function, Sink, Source, Table
from .operators import Operator
from .parts import aggregates_of
from .queries import Query
from .settings import Checkpoint, Settings


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """What the compiler knows of a pipeline and needs to be known to run, review or migrate it."""

    FORMAT: ClassVar[int] = 1

    pipeline: str
    version: int
    description: str | None
    spec: str
    settings: Settings
    checkpoint: Checkpoint
    functions: Mapping[str, Function] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(kw_only=True)
    tables: Mapping[str, Table] = field(default_factory=dict)
    operators: Mapping[str, Operator] = field(kw_only=True)
    queries: Mapping[str, Query] = field(kw_only=True)
    sinks: Mapping[str, Sink] = field(kw_only=True)

    def check(self) -> None:
        """Raise ``Malformed`` if a query names something that is not in the plan."""
        for id_, query in self.queries.items():
            named = {
                "sources": (query.sources, self.sources),
                "tables": (query.tables, self.tables),
                "sinks": (query.sinks, self.sinks),
            }
            for part, (names, known) in named.items():
                _check_known(names, known, "queries", id_, part)
            for number, use in enumerate(query.operators):
                place = ("queries", id_, "operators", number)
                _check_known((use.id,), self.operators, *place, "id")
                computed = {one.id for one in aggregates_of(self.operators[use.id])}
                _check_known(use.aggregates or (), computed, *place, "aggregates")

    def to_text(self) -> str:
        """Return the plan as the text of its file."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"


def _check_known(names: Iterable[str], known: Container[str], *path: str | int) -> None:
    for name in names:
        if name not in known:
            raise Malformed(f"names `{name}`, which does not exist", *path)
