"""JSON Schema of annotated types: records and typed dictionaries of ``contracts``.

A class is a definition with its docstring; a record says more in the metadata of its fields, see
``contracts.json_records``.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping
from datetime import datetime
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from streamc.contracts.json_records import Record

Schema = dict[str, Any]

_SIMPLE: dict[Any, Schema] = {
    Any: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    types.NoneType: {"type": "null"},
}


def schema_of(kind: type, identity: str, others: Mapping[type, str]) -> Schema:
    """Return the schema of a class as a document of its own; those of ``others`` are elsewhere."""
    found = _Definitions({one: place for one, place in others.items() if one is not kind})
    root = found.of(kind)
    name = root["$ref"].rpartition("/")[2]
    whole = found.classes.pop(name)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": identity}
    definitions = {name: found.classes[name] for name in sorted(found.classes)}
    return {**head, "title": name, **whole, **({"$defs": definitions} if definitions else {})}


class _Definitions:
    """Collects the classes that a class consists of, by their names."""

    def __init__(self, others: Mapping[type, str]) -> None:
        self._others = others
        self.classes: dict[str, Schema] = {}
        self._known: dict[str, type] = {}

    def of(self, annotation: Any) -> Schema:
        """Return the schema of a value that an annotation allows."""
        if annotation in _SIMPLE:
            return dict(_SIMPLE[annotation])
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.of(arguments[1])
        if origin is NotRequired:
            return self.of(arguments[0])
        if origin is Literal:
            (kind,) = {type(one) for one in arguments}
            found = self.of(kind)
            return {**found, **_one_of(arguments)}
        if origin in (types.UnionType, Union):
            return self._union(arguments)
        if origin is tuple and arguments[-1] is not Ellipsis:
            parts = [self.of(one) for one in arguments]
            return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
        if origin in (list, tuple):
            return {"type": "array", "items": self.of(arguments[0])}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        return self._class(annotation)

    def _union(self, arguments: tuple[Any, ...]) -> Schema:
        some = [self.of(one) for one in arguments]
        if all(one.keys() == {"type"} for one in some):
            return {"type": [one["type"] for one in some]}
        return {"anyOf": some}

    def _class(self, kind: type) -> Schema:
        if kind in self._others:
            return {"$ref": self._others[kind]}
        name = kind.__name__
        if self._known.setdefault(name, kind) is not kind:
            raise AssertionError(f"two classes are called {name}: {kind}, {self._known[name]}")
        if name not in self.classes:
            self.classes[name] = {}
            self.classes[name] = self._typed_dict(kind) if is_typeddict(kind) else self._of(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _typed_dict(self, kind: Any) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        names = sorted(hints, key=lambda name: name not in ("format", "kind"))
        # # If annotations are text, the class itself does not know which are NotRequired.
        required = [name for name in names if get_origin(hints[name]) is not NotRequired]
        return _object(kind, {name: self.of(hints[name]) for name in names}, required)

    def _of(self, kind: type) -> Schema:
        if not issubclass(kind, Record):
            raise TypeError(f"{kind} is neither a record nor a typed dictionary")
        hints = get_type_hints(kind)
        head = {"format": kind.FORMAT, "kind": kind.KIND}
        properties: dict[str, Schema] = {n: {"const": one} for n, one in head.items() if one}
        required = list(properties)
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            if field.metadata.get("key"):
                continue
            name = field.metadata.get("name", field.name)
            properties[name] = self.of(hints[field.name])
            needed = field.default is field.default_factory is dataclasses.MISSING
            if needed or "written" in field.metadata:
                required.append(name)
        return _object(kind, properties, required)


def _one_of(values: tuple[Any, ...]) -> Schema:
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def _object(kind: type, properties: dict[str, Schema], required: list[str]) -> Schema:
    text = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
    return {
        "description": text,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
