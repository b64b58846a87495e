"""Values of tests by the type of their column.

YAML, Spark's JSON and printed values share one comparable form: None, bool, int, float, Decimal,
text, and lists and mappings of these. An instant is ISO text in UTC, a binary is its base64, an
interval is the quoted part of its literal.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from ...dsl.yaml.nodes import Mapping, Node, Scalar, Sequence
from ..model import types as t

Value = Any
"""One of: None, bool, int, float, Decimal, str, list of values, dict of values by text."""

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_INTERVAL = re.compile(r"(?:INTERVAL\s+)?'?([+-]?[\d :.-]+)'?(?:\s+[A-Z ]+)?", re.IGNORECASE)
_NUMBERS = {".nan": "nan", "nan": "nan", ".inf": "inf", "infinity": "inf", "inf": "inf"}


class Misfit(Exception):
    """A value that its type cannot have: the node, and what was expected."""

    def __init__(self, node: Node, wanted: str) -> None:
        super().__init__(wanted)
        self.node = node
        self.wanted = wanted


def read_value(node: Node, type_: t.Type) -> Value:
    """Return the value of a node; raises ``Misfit``."""
    if isinstance(node, Scalar) and node.kind == "null":
        return None
    match type_:
        case t.Array(element):
            return [read_value(item, element) for item in _sequence(node)]
        case t.Map(_, value):
            return {key.text: read_value(item, value) for key, item in _mapping(node)}
        case t.Struct():
            return _struct(_mapping(node), type_)
        case t.VARIANT | t.UNKNOWN | t.NULL:
            return _free(node)
    return _scalar(node, type_)


def _struct(node: Mapping, type_: t.Struct) -> Value:
    found: dict[str, Value] = {field.name: None for field in type_.fields}
    for key, value in node:
        field = type_.field(key.text)
        if field is None:
            raise Misfit(key, f"a field of {type_}")
        found[field.name] = read_value(value, field.type)
    return found


def _sequence(node: Node) -> Sequence:
    if not isinstance(node, Sequence):
        raise Misfit(node, "a list")
    return node


def _mapping(node: Node) -> Mapping:
    if not isinstance(node, Mapping):
        raise Misfit(node, "a mapping")
    return node


def _free(node: Node) -> Value:
    """Return the value as YAML reads it."""
    if isinstance(node, Sequence):
        return [_free(item) for item in node]
    if isinstance(node, Mapping):
        return {key.text: _free(value) for key, value in node}
    if node.kind == "bool":
        return node.text.lower() in ("true", "yes", "on")
    if node.kind == "int" and re.fullmatch(r"[+-]?\d+", node.text):
        return int(node.text)
    if node.kind == "float":
        return _number(node.text)
    return None if node.kind == "null" else node.text


def _scalar(node: Node, type_: t.Type) -> Value:
    wanted, read = _reader(type_)
    if not isinstance(node, Scalar):
        raise Misfit(node, wanted)
    try:
        return read(node.text)
    except (ValueError, InvalidOperation, OverflowError, binascii.Error):
        raise Misfit(node, wanted) from None


def _reader(type_: t.Type) -> tuple[str, Callable[[str], Value]]:
    """Return what a type accepts, in words, and its reader, which raises ``ValueError``."""
    match type_:
        case t.Decimal(precision, scale):
            return f"a {type_}", lambda text: _decimal(text, precision, scale)
        case t.IntervalType():
            return f"an {type_}, such as '{_EXAMPLES[type_.is_day_time]}'", _interval
        case t.Scalar(name) if name in _BITS:
            return f"{'an' if name == 'INT' else 'a'} {name}", lambda text: _whole(
                text, _BITS[name]
            )
    return _READERS.get(str(type_), ("text", str))


_EXAMPLES = {True: "0 01:30:00", False: "1-06"}


def _whole(text: str, bits: int) -> int:
    number = int(text) if re.fullmatch(r"[+-]?\d+", text) else None
    if number is None or not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError
    return number


def _decimal(text: str, precision: int, scale: int) -> Decimal:
    number = Decimal(text)
    fitted = number.quantize(Decimal(1).scaleb(-scale)) if number.is_finite() else None
    if fitted is None or fitted != number or len(fitted.as_tuple().digits) > precision:
        raise ValueError
    return fitted


def _number(text: str) -> float:
    sign = -1.0 if text.startswith("-") else 1.0
    return sign * float(_NUMBERS.get(text.lstrip("+-").lower(), text.lstrip("+-")))


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def instant_micros(text: str) -> int:
    """Return an instant in microseconds since 1970; without a zone it is UTC.

    Raises ``ValueError``.
    """
    moment = _moment(text)
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _instant(text: str) -> str:
    moment = _moment(text)
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return f"{_iso(moment.replace(tzinfo=None))}Z"


def _local(text: str) -> str:
    moment = _moment(text)
    if moment.tzinfo is not None:
        raise ValueError
    return _iso(moment)


def _moment(text: str) -> datetime:
    # A fraction may have up to six digits, and be followed by any zone.
    filled = re.sub(r"\.(\d{1,6})(?!\d)", lambda found: f".{found[1]:0<6}", text.strip())
    return datetime.fromisoformat(filled)


def _iso(moment: datetime) -> str:
    text = moment.isoformat()
    return text.rstrip("0") if "." in text else text


def _interval(text: str) -> str:
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        raise ValueError
    inner = found[1].strip()
    return inner.rstrip("0").rstrip(".") if "." in inner else inner


def _binary(text: str) -> str:
    return base64.b64encode(base64.b64decode(text, validate=True)).decode()


_READERS: dict[str, tuple[str, Callable[[str], Value]]] = {
    "BOOLEAN": ("true or false", _boolean),
    "FLOAT": ("a FLOAT", _number),
    "DOUBLE": ("a DOUBLE", _number),
    "STRING": ("text", str),
    "BINARY": ("base64 of a BINARY", _binary),
    "DATE": ("a DATE, such as 2026-01-31", lambda text: date.fromisoformat(text).isoformat()),
    "TIMESTAMP": ("a TIMESTAMP, such as 2026-01-31T10:00:00Z", _instant),
    "TIMESTAMP_NTZ": ("a TIMESTAMP_NTZ, such as 2026-01-31T10:00:00", _local),
}


def spark_value(value: Value, type_: t.Type) -> Value:
    """Return a value of Spark's JSON in the form of `read_value`; unexpected ones are unchanged."""
    if value is None:
        return None
    match type_:
        case t.Array(element) if isinstance(value, list):
            return [spark_value(item, element) for item in value]
        case t.Map(_, inner) if isinstance(value, dict):
            return {key: spark_value(item, inner) for key, item in value.items()}
        case t.Struct(fields) if isinstance(value, dict):
            return {f.name: spark_value(value.get(f.name), f.type) for f in fields}
        case t.Decimal(_, scale) if isinstance(value, (int, Decimal)):
            return Decimal(value).quantize(Decimal(1).scaleb(-scale))
        case t.FLOAT | t.DOUBLE:
            return _number(value) if isinstance(value, str) else float(value)
        case t.VARIANT | t.UNKNOWN | t.NULL:
            return _plain(value)
    if not isinstance(value, str):
        return value
    try:
        return _reader(type_)[1](value)
    except (ValueError, InvalidOperation, binascii.Error):
        # For example an instant in the year 10000.
        return value


def _plain(value: Value) -> Value:
    match value:
        case Decimal():
            return float(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
    return value


def json_text(value: Value) -> str:
    """Return a value as JSON that Spark reads back unchanged."""
    match value:
        case list():
            return f"[{', '.join(map(json_text, value))}]"
        case dict():
            pairs = (f"{json_text(key)}: {json_text(item)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case Decimal():
            return f"{value:f}"
        case float() if value != value or value in (float("inf"), float("-inf")):
            return json.dumps({"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)])
    return json.dumps(value, ensure_ascii=False)
