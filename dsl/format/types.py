"""Types as text."""

from __future__ import annotations

from ..ast.types import CollectionType, SimpleType, StructField, StructType, TypeNode
from ..reports.diagnostics import InternalError
from .words import identifier


def type_sql(node: TypeNode) -> str:
    """Return the text of a type, as in ``MAP<STRING, DECIMAL(12, 2)>``."""
    match node:
        case SimpleType(name=name, parameters=()):
            return name
        case SimpleType(name=name, parameters=parameters):
            return f"{name}({', '.join(map(str, parameters))})"
        case CollectionType(name=name, arguments=arguments):
            return f"{name}<{', '.join(map(type_sql, arguments))}>"
        case StructType(fields=fields):
            return f"STRUCT<{', '.join(map(_field, fields))}>"
    raise InternalError(f"no text for {type(node).__name__}")


def _field(field: StructField) -> str:
    text = f"{identifier(field.name.text)} {type_sql(field.type)}"
    return f"{text} NOT NULL" if field.not_null else text
