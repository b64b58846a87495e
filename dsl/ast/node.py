"""The base of all nodes of the syntax tree."""

from __future__ import annotations

from dataclasses import field

from ...contracts.records import dataclass
from ..reports.source import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Something written in a spec; ``span`` says where, and plays no part in equality."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier as the user wrote it, without backticks."""

    text: str

    def __str__(self) -> str:
        return self.text
