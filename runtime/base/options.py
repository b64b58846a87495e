"""Options of sources and sinks, as a script passes them: each is used, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .errors import BAD_OPTION, RuntimeFault, nearest

T = TypeVar("T")

_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def choose(value: str, known: Mapping[str, T], owner: str, option: str) -> T:
    """The entry of that name; raises RuntimeFault with the nearest known name."""
    if value not in known:
        near = nearest(str(value), list(known))
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} has {option} `{value}`",
            f"did you mean `{near}`?" if near else f"known: {', '.join(sorted(known))}",
        )
    return known[value]


def spark_options(options: dict[str, Any]) -> dict[str, str]:
    """Takes the options meant for Spark itself out of `options`, without their prefix."""
    given = options.pop("options", {})
    return {name.removeprefix("spark."): str(value) for name, value in given.items()}


_INSTANTS = ("seconds", "millis", "micros", "nanos")
"""The units of numbers that are instants."""

_LENIENT_JSON = (
    "allowSingleQuotes",
    "allowUnquotedFieldNames",
    "allowComments",
    "allowNumericLeadingZeros",
    "allowNonNumericNumbers",
)
"""What Spark can accept beyond RFC 8259; it accepts some of it by default."""


def lenient_options(
    format: str, options: dict[str, Any], given: Mapping[str, str]
) -> dict[str, str]:
    """Takes the leniency of a source out of `options`, in the form of the kernel's readers.

    Options `given` to Spark by name are unchanged.
    """
    lenient = str(options.pop("lenient", False)).lower()
    named = {name.lower() for name in given}
    found = {name: lenient for name in _LENIENT_JSON if name.lower() not in named}
    return {"streamc.lenient": lenient, **(found if format == "json" else {})}


def instant_options(
    owner: str, format: str, options: dict[str, Any], given: Mapping[str, str]
) -> dict[str, str]:
    """Takes how json or csv writes instants out of `options`, in the kernel's form.

    A pattern is that of instants without a time zone too, unless Spark's options, `given`, have one
    for them. Raises RuntimeFault for an unknown unit.
    """
    found = {}
    if (unit := options.pop("timestamp_unit", None)) is not None:
        choose(str(unit), dict.fromkeys(_INSTANTS), owner, "timestamp_unit")
        found["streamc.timestamp_unit"] = str(unit)
    if (pattern := options.pop("timestamp_format", None)) is not None:
        found["timestampFormat"] = str(pattern)
        if "timestampntzformat" not in {name.lower() for name in given}:
            found["timestampNTZFormat"] = str(pattern)
    if (zone := options.pop("timestamp_zone", None)) is not None:
        found["timeZone"] = str(zone)
    if format == "csv" and {"streamc.timestamp_unit", "timestampFormat"} <= found.keys():
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} has timestamp_unit and timestamp_format",
            "keep one of them: a number in csv is a text",
        )
    return found


KEPT_SPACES = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
"""What makes Spark write csv with the spaces around a text, which it leaves out by default."""


def csv_options(options: dict[str, Any]) -> dict[str, str]:
    """Takes the layout of csv out of `options`, in Spark's form."""
    # A quote within quotes is doubled, as everywhere but in Spark.
    found = {"escape": '"'}
    if (delimiter := options.pop("delimiter", None)) is not None:
        found["sep"] = str(delimiter)
    if (null := options.pop("null_value", None)) is not None:
        found["nullValue"] = str(null)
    return found


def size_in_bytes(owner: str, option: str, text: str) -> int:
    """The bytes of a size such as `128 MB`; raises RuntimeFault for other text.

    >>> size_in_bytes("sink `spend`", "roll_size", "128 MB")
    134217728
    """
    number, _, unit = text.strip().partition(" ")
    if unit.upper() not in _UNITS or not (number.isascii() and number.isdigit() and int(number)):
        raise RuntimeFault(
            BAD_OPTION, f"{owner} has {option} `{text}`", "write a size such as `128 MB`"
        )
    return int(number) * _UNITS[unit.upper()]


def refuse_rest(owner: str, options: Mapping[str, Any]) -> None:
    """Raises RuntimeFault when an unused option is left."""
    for option in options:
        raise RuntimeFault(
            BAD_OPTION, f"{owner} has no option `{option}`", "compile the spec again"
        )


def quoted(name: str) -> str:
    """The name of a column, quoted for Spark's expressions."""
    return f"`{name.replace('`', '``')}`"
