"""The types of the language: Spark SQL's, as frozen values.

``str(type)`` is Spark's own spelling (``DECIMAL(12,2)``, ``STRUCT<a: INT, b: STRING>``), the form
that types have in the plan. ``UNKNOWN`` is the type of what could not be typed: it is compatible
with every other type, so that a mistake is reported once. Whether the elements of a collection may
be NULL is not part of a type here.
"""

from __future__ import annotations

import re

from ...contracts.records import dataclass
from ...dsl.ast import types as ast
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...dsl.reports.suggest import closest

MAX_PRECISION = 38
"""The maximum number of digits of a DECIMAL."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Type:
    """A type; one of the classes below."""


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A type without parameters, by Spark's name for it."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal(Type):
    """``precision`` digits in all, ``scale`` of them after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A list of values of one type."""

    element: Type

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map(Type):
    """Values by key."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"{_name(self.name)}: {self.type}"


def _name(field: str) -> str:
    """Return the name of a field as Spark writes it in a type."""
    return field if _PLAIN.fullmatch(field) else "`" + field.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class Struct(Type):
    """Named fields in order."""

    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(str(field) for field in self.fields)}>"

    def field(self, name: str) -> Field | None:
        """Return the field of a name (ignoring case, as in Spark), or None."""
        folded = name.lower()
        for field in self.fields:
            if field.name.lower() == folded:
                return field
        return None


@dataclass(frozen=True, slots=True)
class IntervalType(Type):
    """An interval between two units of one family, the coarser first.

    ``DAY HOUR MINUTE SECOND`` make a day-time interval (of fixed length), ``YEAR MONTH`` the other.
    """

    start: str
    end: str

    def __str__(self) -> str:
        if self.start == self.end:
            return f"INTERVAL {self.start}"
        return f"INTERVAL {self.start} TO {self.end}"

    @property
    def is_day_time(self) -> bool:
        """Whether it has a fixed length."""
        return self.start in DAY_TIME_UNITS

    @property
    def units(self) -> tuple[str, ...]:
        """The units it has, the coarsest first."""
        family = DAY_TIME_UNITS if self.is_day_time else YEAR_MONTH_UNITS
        return family[family.index(self.start) : family.index(self.end) + 1]


DAY_TIME_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
YEAR_MONTH_UNITS = ("YEAR", "MONTH")

BOOLEAN = Scalar("BOOLEAN")
TINYINT = Scalar("TINYINT")
SMALLINT = Scalar("SMALLINT")
INT = Scalar("INT")
BIGINT = Scalar("BIGINT")
FLOAT = Scalar("FLOAT")
DOUBLE = Scalar("DOUBLE")
STRING = Scalar("STRING")
BINARY = Scalar("BINARY")
DATE = Scalar("DATE")
TIMESTAMP = Scalar("TIMESTAMP")
TIMESTAMP_NTZ = Scalar("TIMESTAMP_NTZ")
VARIANT = Scalar("VARIANT")
NULL = Scalar("VOID")
"""The type of a bare NULL."""
UNKNOWN = Scalar("UNKNOWN")
"""What could not be typed; never shown to the user."""
DAY_TIME = IntervalType("DAY", "SECOND")
YEAR_MONTH = IntervalType("YEAR", "MONTH")
WINDOW = Struct((Field("start", TIMESTAMP), Field("end", TIMESTAMP)))
"""The column in which Spark keeps a window."""

INTEGRALS: tuple[Type, ...] = (TINYINT, SMALLINT, INT, BIGINT)
"""The whole numbers, narrowest first."""
FRACTIONALS: tuple[Type, ...] = (FLOAT, DOUBLE)
DATETIMES: tuple[Type, ...] = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
INTEGRAL_RANGES: dict[Type, int] = {TINYINT: 2**7, SMALLINT: 2**15, INT: 2**31, BIGINT: 2**63}
"""The first whole number that is too large; its negative is the smallest that fits."""


_SCALARS: dict[str, Type] = {
    type_.name: type_
    for type_ in (
        *(BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY),
        *(DATE, TIMESTAMP, TIMESTAMP_NTZ, VARIANT),
    )
}
_NAMES: dict[str, Type] = _SCALARS | {
    "BYTE": TINYINT,
    "SHORT": SMALLINT,
    "INTEGER": INT,
    "LONG": BIGINT,
    "REAL": FLOAT,
    "TIMESTAMP_LTZ": TIMESTAMP,
}
_DECIMAL_NAMES = ("DECIMAL", "DEC", "NUMERIC")


def type_names() -> tuple[str, ...]:
    """Return the names of the types without parameters, and of DECIMAL."""
    return (*_SCALARS, _DECIMAL_NAMES[0])


_FOREIGN = {
    "BOOL": "BOOLEAN",
    "BYTEA": "BINARY",
    "BYTES": "BINARY",
    "CHAR": "STRING",
    "CHARACTER": "STRING",
    "DATETIME": "TIMESTAMP",
    "INT2": "SMALLINT",
    "INT4": "INT",
    "INT8": "BIGINT",
    "JSON": "VARIANT",
    "JSONB": "VARIANT",
    "NUMBER": "DECIMAL",
    "TEXT": "STRING",
    "TIMESTAMPTZ": "TIMESTAMP",
    "UUID": "STRING",
    "VARBINARY": "BINARY",
    "VARCHAR": "STRING",
}
"""Names of other engines, and what is meant here."""


def plain(name: str) -> Type | None:
    """Return the type of an upper-case name without parameters (intervals included), or None."""
    return _SCALARS.get(name) or _interval(name)


def from_node(node: ast.TypeNode, diagnostics: Diagnostics) -> Type:
    """Return the type of a type name; UNKNOWN once a mistake has been reported."""
    match node:
        case ast.SimpleType():
            return _simple(node, diagnostics)
        case ast.CollectionType():
            return _collection(node, diagnostics)
        case ast.StructType(_, fields):
            return Struct(tuple(Field(f.name.text, from_node(f.type, diagnostics)) for f in fields))
    return UNKNOWN


def _simple(node: ast.SimpleType, diagnostics: Diagnostics) -> Type:
    if node.name in _DECIMAL_NAMES:
        return _decimal(node, diagnostics)
    found = _NAMES.get(node.name) or _interval(node.name)
    if found is None:
        diagnostics.add(_unknown_type(node))
        return UNKNOWN
    if node.parameters:
        diagnostics.add(_bad_parameters(node, f"`{node.name}` takes no parameters", node.name))
    return found


def _decimal(node: ast.SimpleType, diagnostics: Diagnostics) -> Type:
    if len(node.parameters) > 2:
        what = "`DECIMAL` takes a precision and a scale"
        diagnostics.add(_bad_parameters(node, what, "DECIMAL(12, 2)"))
        return UNKNOWN
    precision, scale = (*node.parameters, *(10, 0)[len(node.parameters) :])
    if not 1 <= precision <= MAX_PRECISION:
        what = f"the precision of a `DECIMAL` is 1 to {MAX_PRECISION}, not {precision}"
        diagnostics.add(_bad_parameters(node, what, f"DECIMAL({MAX_PRECISION}, {scale})"))
        return UNKNOWN
    if not 0 <= scale <= precision:
        what = f"a `DECIMAL` of {precision} digits has no {scale} of them after the point"
        diagnostics.add(_bad_parameters(node, what, f"DECIMAL({MAX_PRECISION}, {scale})"))
        return UNKNOWN
    return Decimal(precision, scale)


def _interval(name: str) -> IntervalType | None:
    match name.split():
        case ["INTERVAL", start]:
            end = start
        case ["INTERVAL", start, "TO", end]:
            pass
        case _:
            return None
    for family in (DAY_TIME_UNITS, YEAR_MONTH_UNITS):
        if start in family and end in family and family.index(start) <= family.index(end):
            return IntervalType(start, end)
    return None


def _collection(node: ast.CollectionType, diagnostics: Diagnostics) -> Type:
    arguments = [from_node(argument, diagnostics) for argument in node.arguments]
    match node.name, arguments:
        case "ARRAY", [element]:
            return Array(element)
        case "MAP", [key, value]:
            return Map(key, value)
        case (("SET" | "LIST"), _):
            diagnostics.add(_state_only_type(node))
        case _:
            diagnostics.add(_unknown_type(node))
    return UNKNOWN


def _unknown_type(node: ast.SimpleType | ast.CollectionType) -> Diagnostic:
    names = (*_SCALARS, "DECIMAL", "ARRAY", "MAP", "STRUCT", "INTERVAL DAY TO SECOND")
    near = (_FOREIGN[node.name],) if node.name in _FOREIGN else closest(node.name, names)
    return Diagnostic(
        codes.UNKNOWN_TYPE,
        f"there is no type `{node.name}`",
        Label(node.span),
        help=f"did you mean `{near[0]}`?" if near else f"the types are: {', '.join(names)}",
    )


def _bad_parameters(node: ast.SimpleType, what: str, instead: str) -> Diagnostic:
    return Diagnostic(codes.BAD_TYPE_PARAMETERS, what, Label(node.span), help=f"write `{instead}`")


def _state_only_type(node: ast.CollectionType) -> Diagnostic:
    return Diagnostic(
        codes.STATE_ONLY_TYPE,
        f"`{node.name}` is a type of operator state alone",
        Label(node.span),
        help="write `ARRAY<…>`",
    )


def decimal(precision: int, scale: int) -> Decimal:
    """Return the DECIMAL of these digits, both limited to Spark's maximum."""
    return Decimal(min(precision, MAX_PRECISION), min(scale, MAX_PRECISION))


def is_known(type_: Type) -> bool:
    """Return whether a type is known in all its parts."""
    match type_:
        case Array(element):
            return is_known(element)
        case Map(key, value):
            return is_known(key) and is_known(value)
        case Struct(fields):
            return all(is_known(field.type) for field in fields)
    return type_ != UNKNOWN


def is_open(type_: Type) -> bool:
    """Return whether a type fits every expectation: UNKNOWN, or that of a bare NULL."""
    return type_ is UNKNOWN or type_ is NULL


def is_integral(type_: Type) -> bool:
    """Return whether values are whole numbers of fixed width."""
    return type_ in INTEGRALS


def is_numeric(type_: Type) -> bool:
    """Return whether values are numbers."""
    return type_ in INTEGRALS or type_ in FRACTIONALS or isinstance(type_, Decimal)


def is_nested(type_: Type) -> bool:
    """Return whether a type holds values of other types."""
    return isinstance(type_, Array | Map | Struct) or type_ == VARIANT


def is_day_time(type_: Type) -> bool:
    """Return whether values are intervals of a fixed length."""
    return isinstance(type_, IntervalType) and type_.is_day_time


def is_orderable(type_: Type) -> bool:
    """Return whether the values are ordered for ``<`` and ORDER BY (UNKNOWN may be)."""
    match type_:
        case Array(element):
            return is_orderable(element)
        case Struct(fields):
            return all(is_orderable(field.type) for field in fields)
        case Map():
            return False
    return type_ != VARIANT


def is_groupable(type_: Type) -> bool:
    """Return whether a value may be a key of GROUP BY or of a join (``=`` accepts it)."""
    return is_orderable(type_)
