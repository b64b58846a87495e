"""The plan as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from ..json_records import Record
from ..records import dataclass
from .ends import Function, Sink, Source, Table
from .operators import Operator
from .queries import Query
from .settings import Checkpoint, Settings


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """What the compiler knows of a pipeline, and what runs it, reviews it or migrates it needs."""

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

    def to_text(self) -> str:
        """Return the plan as the text of its file."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
