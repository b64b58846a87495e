"""Frozen data classes that are objects of JSON: read strictly, written as they were read.

The annotations are the format. A field with a default may be missing, and is omitted if it has its
default, unless it is ``WRITTEN``; any other is always present. Values must be of the annotated
types; otherwise ``Malformed`` names the field.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias, Union, get_args, get_origin, get_type_hints

from .records import dataclass

Json: TypeAlias = dict[str, Any]
"""A JSON object: to be written to a file, or read from one and not yet checked."""

KEY = {"key": True}
"""The metadata of a field that is the key of the object within its parent."""

WRITTEN = {"written": True}
"""The metadata of a field with a default that is always written; earlier versions lack it."""

_Reader: TypeAlias = Callable[[object, str | None], Any]
"""Reads the value of a key, or an element of a list, which has none."""

_MISSING: Any = dataclasses.MISSING
_LEAST = -(2**63)


def named(name: str) -> Mapping[str, str]:
    """Return the metadata of a field that has another name in JSON."""
    return {"name": name}


class Malformed(ValueError):
    """A document does not fit its format: where, and why.

    >>> str(Malformed("is not a text", "operators", "a", 0))
    'its `operators.a[0]` is not a text'
    """

    def __init__(self, reason: str, *path: str | int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def under(self, *path: str | int) -> Malformed:
        """Return the same mistake with its path from the parent object."""
        return Malformed(self.reason, *path, *self.path)

    def __str__(self) -> str:
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        place = "".join(parts).removeprefix(".")
        return f"its `{place}` {self.reason}" if place else f"it {self.reason}"


class Record:
    """A frozen data class that is a JSON object.

    A top-level document has a ``FORMAT``, a variant a ``KIND``: both are written first. ``check``
    verifies what types do not express.
    """

    __slots__ = ()

    FORMAT: ClassVar[int | None] = None
    KIND: ClassVar[str | None] = None

    @classmethod
    def from_json(cls, value: object, key: str | None = None) -> Self:
        """Read an object, given its key in the parent; raises ``Malformed``."""
        if not isinstance(value, dict):
            raise Malformed("is not an object")
        layout = _layout(cls)
        for name, known in layout.head.items():
            found = value.get(name)
            if type(found) is not type(known) or found != known:
                raise Malformed(f"is {found!r}, and {known!r} is read", name)
        given: dict[str, Any] = {} if layout.key is None else {layout.key: key}
        for name, field in layout.fields.items():
            if name in value:
                try:
                    given[field.name] = field.read(value[name], name)
                except Malformed as error:
                    raise error.under(name) from None
            elif field.needed:
                raise Malformed("is missing", name)
        for name in value:
            if name not in layout.fields and name not in layout.head:
                raise Malformed("is unknown", name)
        made = cls(**given)
        made.check()
        return made

    def check(self) -> None:
        """Raise ``Malformed`` if parts contradict each other."""

    def to_json(self) -> Json:
        """Return the object, with its fields in order."""
        return {name: to_json(value) for name, value in self.parts().items()}

    def parts(self) -> Json:
        """Return the parts of the object by their names in JSON, unconverted."""
        layout = _layout(type(self))
        found: Json = dict(layout.head)
        for name, field in layout.fields.items():
            value = getattr(self, field.name)
            if field.written or value != field.default:
                found[name] = value
        return found


def to_json(value: Any) -> Any:
    """Return the value of a field in JSON's form."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, tuple):
        return [to_json(one) for one in value]
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, datetime):
        return instant_text(value)
    return value


def instant_text(instant: datetime) -> str:
    """Return an instant in the form of documents: UTC, to the millisecond."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    read: _Reader
    default: Any
    written: bool

    @property
    def needed(self) -> bool:
        return self.default is _MISSING


@dataclass(frozen=True, slots=True)
class _Layout:
    """What is written first, then the fields by their JSON names; the field that is the key."""

    head: Mapping[str, object]
    fields: Mapping[str, _Field]
    key: str | None


_layouts: dict[type[Record], _Layout] = {}


def _layout(cls: type[Record]) -> _Layout:
    if cls not in _layouts:
        _layouts[cls] = _layout_of(cls)
    return _layouts[cls]


def _layout_of(cls: type[Record]) -> _Layout:
    annotations = get_type_hints(cls)
    fields, key = {}, None
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.metadata.get("key"):
            key = field.name
            continue
        made: Any = field.default_factory
        default = field.default if made is _MISSING else made()
        name = field.metadata.get("name", field.name)
        written = default is _MISSING or "written" in field.metadata
        fields[name] = _Field(field.name, _reader(annotations[field.name]), default, written)
    head = {"format": cls.FORMAT, "kind": cls.KIND}
    return _Layout({n: one for n, one in head.items() if one is not None}, fields, key)


def _reader(annotation: Any) -> _Reader:
    """Return the function that reads a value of a type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (types.UnionType, Union):
        some = [kind for kind in arguments if kind is not types.NoneType]
        if len(some) == len(arguments):
            return partial(_read_kind, {kind.KIND: kind for kind in some})
        return partial(_read_maybe, _reader(some[0]))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return partial(_read_fixed, tuple(map(_reader, arguments)))
    if origin is tuple:
        return partial(_read_list, _reader(arguments[0]))
    if origin is Mapping:
        return partial(_read_mapping, _reader(arguments[1]))
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    reader: _Reader = annotation.from_json
    return reader


def _read_kind(kinds: Mapping[object, type[Record]], value: object, key: str | None) -> Record:
    """Read an object of one of several kinds."""
    if not isinstance(value, dict):
        raise Malformed("is not an object")
    found = next((kind for name, kind in kinds.items() if name == value.get("kind")), None)
    if found is None:
        raise Malformed("is unknown", "kind")
    return found.from_json(value, key)


def _read_maybe(read: _Reader, value: object, key: str | None) -> Any:
    return None if value is None else read(value, key)


def _read_list(read: _Reader, value: object, key: str | None) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Malformed("is not a list")
    found = []
    for number, one in enumerate(value):
        try:
            found.append(read(one, None))
        except Malformed as error:
            raise error.under(number) from None
    return tuple(found)


def _read_fixed(readers: tuple[_Reader, ...], value: object, key: str | None) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != len(readers):
        raise Malformed(f"is not a list of {len(readers)} values")
    return tuple(read(one, None) for read, one in zip(readers, value, strict=True))


def _read_mapping(read: _Reader, value: object, key: str | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed("is not an object")
    found = {}
    for key, one in value.items():
        try:
            found[key] = read(one, key)
        except Malformed as error:
            raise error.under(key) from None
    return found


def _read_text(value: object, key: str | None) -> str:
    if not isinstance(value, str):
        raise Malformed("is not a text")
    return value


def _read_whole(value: object, key: str | None) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed("is not a whole number")
    if not _LEAST <= value < -_LEAST:
        raise Malformed("is not a whole number of 64 bits")
    return value


def _read_number(value: object, key: str | None) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed("is not a number")
    return float(_read_whole(value, key))


def _read_flag(value: object, key: str | None) -> bool:
    if not isinstance(value, bool):
        raise Malformed("is neither true nor false")
    return value


def _read_instant(value: object, key: str | None) -> datetime:
    try:
        found = datetime.fromisoformat(_read_text(value, key))
    except ValueError:
        raise Malformed("is not an instant") from None
    if found.tzinfo is None:
        raise Malformed("is not an instant")
    return found


def _read_anything(value: object, key: str | None) -> object:
    return value


_SIMPLE: dict[Any, _Reader] = {
    str: _read_text,
    int: _read_whole,
    float: _read_number,
    bool: _read_flag,
    datetime: _read_instant,
    Any: _read_anything,
}
