"""Actions of the types in ``expressions.lark``."""

from __future__ import annotations

from ..ast.node import Name
from ..ast.types import CollectionType, SimpleType, StructField, StructType, TypeNode
from ..reports.source import Span
from ..syntax.spelling import unit_of


def simple_type(span: Span, name: Name, *parameters: str) -> SimpleType:
    return SimpleType(span, name.text.upper(), tuple(map(int, parameters)))


def interval_type(span: Span, first: str, _to: str | None, last: str | None) -> SimpleType:
    name = f"INTERVAL {unit_of(first)}"
    return SimpleType(span, name if last is None else f"{name} TO {unit_of(last)}")


def collection_type(span: Span, name: str, *arguments: TypeNode) -> CollectionType:
    return CollectionType(span, name.upper(), arguments)


def struct_type(span: Span, *fields: StructField) -> StructType:
    return StructType(span, fields)


def struct_field(span: Span, name: Name, type_: TypeNode, not_null: str | None) -> StructField:
    return StructField(span, name, type_, not_null is not None)
