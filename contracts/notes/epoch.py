"""The file of an epoch: the cut of every source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from ..json_records import WRITTEN, Record, named
from ..records import dataclass

Cuts: TypeAlias = Mapping[str, Any]
"""The position of each source, as the source itself writes it; None at its beginning."""


@dataclass(frozen=True, slots=True)
class EpochNote(Record):
    """An epoch by its number: whether it has ``rows``, and whether it drains all windows."""

    number: int = field(metadata=named("epoch"))
    cuts: Cuts
    rows: bool = field(default=False, metadata=WRITTEN)
    drain: bool = field(default=False, metadata=WRITTEN)
    opened_at: str = field(kw_only=True)
