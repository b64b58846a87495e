"""Type names as written; ``compiler.model.types`` holds what they mean."""

from __future__ import annotations

from ...contracts.records import dataclass
from .node import Name, Node


@dataclass(frozen=True, slots=True)
class TypeNode(Node):
    """A type as written."""


@dataclass(frozen=True, slots=True)
class SimpleType(TypeNode):
    """``STRING``, ``DECIMAL(12, 2)``, ``INTERVAL DAY TO SECOND``.

    A name in upper case and numbers.
    """

    name: str
    parameters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionType(TypeNode):
    """``ARRAY<t>``, ``SET<t>``, ``LIST<t>`` (one argument) or ``MAP<k, v>`` (two)."""

    name: str
    arguments: tuple[TypeNode, ...]


@dataclass(frozen=True, slots=True)
class StructField(Node):
    """A field of a STRUCT."""

    name: Name
    type: TypeNode
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class StructType(TypeNode):
    """``STRUCT<name t, …>`` (a colon after the name is allowed)."""

    fields: tuple[StructField, ...]
