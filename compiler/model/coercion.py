"""Compatible types: common types, comparisons, casts, and the types of arithmetic.

The rules are those of Spark's ANSI mode, with one deliberate difference: Spark converts a text to a
number, a boolean or an instant wherever the other side is one, and fails on the first row where
that is impossible. Here a text goes with texts and binaries only; everything else needs a CAST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DATETIMES,
    DAY_TIME_UNITS,
    DOUBLE,
    FLOAT,
    FRACTIONALS,
    INT,
    INTEGRALS,
    MAX_PRECISION,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VARIANT,
    YEAR_MONTH_UNITS,
    Array,
    Decimal,
    Field,
    IntervalType,
    Map,
    Struct,
    Type,
    is_day_time,
    is_numeric,
    is_orderable,
)

_NUMBERS = (*INTEGRALS, *FRACTIONALS)
_INTEGRAL_DIGITS: dict[Type, int] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_MIN_SCALE = 6
"""The digits after the point that Spark keeps when a result has too many digits."""


def common_type(left: Type, right: Type) -> Type | None:
    """Return the common type of both, or None."""
    if left == right or right is NULL or left is UNKNOWN:
        return left
    if left is NULL or right is UNKNOWN:
        return right
    if is_numeric(left) and is_numeric(right):
        return _common_number(left, right)
    match left, right:
        case Array(a), Array(b):
            return _wrapped(Array, common_type(a, b))
        case Map(k, v), Map(k2, v2):
            key, value = common_type(k, k2), common_type(v, v2)
            return None if key is None or value is None else Map(key, value)
        case Struct(a), Struct(b):
            return _common_struct(a, b)
        case IntervalType(), IntervalType():
            return _common_interval(left, right)
    if left in DATETIMES and right in DATETIMES:
        return TIMESTAMP if TIMESTAMP in (left, right) else TIMESTAMP_NTZ
    if {left, right} == {STRING, BINARY}:
        return BINARY
    return None


def common_type_of(types: Iterable[Type]) -> Type | None:
    """Return the common type of all: NULL if there are no types, None when they have none."""
    found: Type | None = NULL
    for type_ in types:
        if found is None:
            return None
        found = common_type(found, type_)
    return found


def _wrapped(wrap: Callable[[Type], Type], inner: Type | None) -> Type | None:
    return None if inner is None else wrap(inner)


def _common_number(left: Type, right: Type) -> Type:
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        if left in FRACTIONALS or right in FRACTIONALS:
            return DOUBLE
        return _wider_decimal(as_decimal(left), as_decimal(right))
    if left == right:
        return left
    wider = _NUMBERS[max(_NUMBERS.index(left), _NUMBERS.index(right))]
    return DOUBLE if wider is FLOAT else wider


def _wider_decimal(a: Decimal, b: Decimal) -> Decimal:
    """Return the decimal that holds both; digits before the point are kept first."""
    scale = max(a.scale, b.scale)
    whole = max(a.precision - a.scale, b.precision - b.scale)
    surplus = max(0, whole + scale - MAX_PRECISION)
    return Decimal(min(whole + scale, MAX_PRECISION), max(0, scale - surplus))


def _common_struct(left: tuple[Field, ...], right: tuple[Field, ...]) -> Type | None:
    if [f.name.lower() for f in left] != [f.name.lower() for f in right]:
        return None
    types = [common_type(a.type, b.type) for a, b in zip(left, right, strict=True)]
    fields = [Field(f.name, t) for f, t in zip(left, types, strict=True) if t is not None]
    return Struct(tuple(fields)) if len(fields) == len(left) else None


def _common_interval(left: IntervalType, right: IntervalType) -> IntervalType | None:
    if left.is_day_time != right.is_day_time:
        return None
    family = DAY_TIME_UNITS if left.is_day_time else YEAR_MONTH_UNITS
    start = min(left.start, right.start, key=family.index)
    return IntervalType(start, max(left.end, right.end, key=family.index))


def can_compare(left: Type, right: Type) -> bool:
    """Return whether ``=`` and ``<`` take values of these types (texts: see the module)."""
    common = common_type(left, right)
    return common is not None and is_orderable(common)


def as_decimal(type_: Type) -> Decimal:
    """Return the decimal that holds every value of a whole-number type; a decimal is itself."""
    return type_ if isinstance(type_, Decimal) else Decimal(_INTEGRAL_DIGITS[type_], 0)


def arithmetic(operator: str, left: Type, right: Type) -> Type:
    """Return the type of ``+ - * / % DIV`` on two numeric types."""
    if operator == "DIV":
        return BIGINT
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        if left in FRACTIONALS or right in FRACTIONALS:
            return DOUBLE
        return _decimal_arithmetic(operator, as_decimal(left), as_decimal(right))
    return DOUBLE if operator == "/" else _common_number(left, right)


def _decimal_arithmetic(operator: str, a: Decimal, b: Decimal) -> Decimal:
    whole_a, whole_b = a.precision - a.scale, b.precision - b.scale
    scale = max(a.scale, b.scale)
    match operator:
        case "*":
            return adjusted(a.precision + b.precision + 1, a.scale + b.scale)
        case "/":
            scale = max(_MIN_SCALE, a.scale + b.precision + 1)
            return adjusted(whole_a + b.scale + scale, scale)
        case "%":
            return adjusted(min(whole_a, whole_b) + scale, scale)
    return adjusted(max(whole_a, whole_b) + scale + 1, scale)


def adjusted(precision: int, scale: int) -> Decimal:
    """Return the decimal Spark keeps for a result: too many digits cost digits after the point."""
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    whole = precision - scale
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, _MIN_SCALE)))


def can_cast(source: Type, target: Type) -> bool:
    """Return whether some value of ``source`` can become ``target`` by CAST."""
    if source == target or source in (NULL, UNKNOWN) or target in (UNKNOWN, STRING):
        return True
    if source == VARIANT:
        return not isinstance(target, IntervalType) and not (
            isinstance(target, Map) and target.key != STRING
        )
    match source, target:
        case Array(a), Array(b):
            return can_cast(a, b)
        case Map(k, v), Map(k2, v2):
            return can_cast(k, k2) and can_cast(v, v2)
        case Struct(a), Struct(b):
            pairs = zip(a, b, strict=False)
            return len(a) == len(b) and all(can_cast(x.type, y.type) for x, y in pairs)
    if target == VARIANT:
        return not isinstance(source, (Map, Struct, IntervalType)) and not (
            isinstance(source, Array) and not can_cast(source.element, VARIANT)
        )
    if isinstance(source, (Array, Map, Struct)) or isinstance(target, (Array, Map, Struct)):
        return False
    return _can_cast_scalar(source, target)


def _can_cast_scalar(source: Type, target: Type) -> bool:
    if source == STRING:
        return True
    if is_numeric(source):
        return is_numeric(target) or _can_cast_number(source, target)
    if isinstance(source, IntervalType):
        return _can_cast_interval(source, target)
    if source == BOOLEAN:
        return is_numeric(target)
    if source in DATETIMES:
        return target in DATETIMES or (source == TIMESTAMP and is_numeric(target))
    return False


def _can_cast_number(source: Type, target: Type) -> bool:
    if target in (BOOLEAN, TIMESTAMP):
        return True
    if isinstance(target, IntervalType):
        return source not in FRACTIONALS
    return False


def _can_cast_interval(source: IntervalType, target: Type) -> bool:
    if isinstance(target, IntervalType):
        return source.is_day_time == target.is_day_time
    return is_numeric(target) and target not in FRACTIONALS


def calendar_arithmetic(operator: str, a: Type, b: Type) -> Type | None:
    """Return the type of arithmetic on dates, times and intervals, None where there is none."""
    if operator in ("+", "-"):
        if a in DATETIMES:
            if operator == "-" and b in DATETIMES:
                return datetime_difference(a, b)
            return _datetime_plus(a, b)
        if operator == "+" and b in DATETIMES:
            return _datetime_plus(b, a)
        if isinstance(a, IntervalType) and isinstance(b, IntervalType):
            return common_type(a, b)
        return None
    if isinstance(a, IntervalType):
        if operator in ("*", "/") and is_numeric(b):
            return _scaled_interval(a)
        same = operator == "DIV" and common_type(a, b) is not None
        return BIGINT if same else None
    if operator == "*" and isinstance(b, IntervalType) and is_numeric(a):
        return _scaled_interval(b)
    return None


def _datetime_plus(moment: Type, step: Type) -> Type | None:
    """Return the type of ``moment ± step`` for a date or time and an interval or number of days."""
    if moment == DATE:
        if step in (TINYINT, SMALLINT, INT):
            return DATE
        if isinstance(step, IntervalType):
            return DATE if not step.is_day_time or step.end == "DAY" else TIMESTAMP
        return None
    return moment if isinstance(step, IntervalType) else None


def datetime_difference(left: Type, right: Type) -> IntervalType:
    """Return the type of ``left - right`` for two dates or times."""
    if left == DATE and right == DATE:
        return IntervalType("DAY", "DAY")
    return IntervalType("DAY", "SECOND")


def _scaled_interval(interval: IntervalType) -> IntervalType:
    """Return the type of an interval times or divided by a number: all units of its family."""
    return IntervalType("DAY", "SECOND") if is_day_time(interval) else IntervalType("YEAR", "MONTH")
