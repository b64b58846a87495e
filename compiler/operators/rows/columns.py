"""The columns of rows by name, in order, with their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ...model.schema import Schema
from ...model.types import Type

Columns: TypeAlias = Mapping[str, Type]
"""Columns with an unqualified name: those qualified by an alias, as in a join, have none."""

ColumnsOf: TypeAlias = Callable[[str], Columns]
"""The columns of a source or relation by its name."""


def columns_of(schema: Schema) -> Columns:
    """Return the columns of a schema."""
    return {field.name: field.type for field in schema}
