"""Signatures of functions: how an argument's type is matched with a parameter, and the result.

A signature is written as text, one per function, and parsed when the function is first used::

    substring   S, INT, [INT] -> S
    coalesce    T... -> T
    transform   ARRAY<T>, fn(T, [INT]): U -> ARRAY<U>
    round       NUMBER, [INT] -> @rounded

- A type name stands for itself, and accepts what Spark casts to it implicitly (texts:
  ``coercion``).
- ``T U V K R`` are bound by the arguments; bound twice, they are the common type. So are ``N``
  (numbers and intervals), ``O`` (ordered types) and ``S`` (BINARY, or a text).
- ``NUMBER``, ``INTEGRAL``, ``DAYS`` (INT or smaller), ``ANY``, ``MOMENT`` (a date, a time or a text
  that is one), ``COLLECTION`` (ARRAY or MAP) and ``NESTED`` (what JSON nests) accept types without
  binding them.
- ``[x]`` may be left out, ``x...`` repeats, ``fn(…): t`` is a lambda, ``@rule`` one of ``rules``.
- ``!`` after the result: it is never NULL.
"""

from __future__ import annotations

import re
from functools import cache

from ...contracts.records import dataclass
from . import types as t
from .coercion import common_type
from .signature_table import SIGNATURES


@dataclass(frozen=True, slots=True)
class Pattern:
    """A type with holes: ``name`` and the parts in its brackets.

    ``type`` is set when the pattern is a plain type. For a lambda the last of ``inside`` is its
    result, and ``optional`` of its parameters may be left out.
    """

    name: str
    inside: tuple[Pattern, ...] = ()
    type: t.Type | None = None
    optional: int = 0

    def __str__(self) -> str:
        if self.type is not None:
            return str(self.type)
        if self.name == "ARRAY" and self.inside[0].name == "O":
            return "an ARRAY of values with an order"
        return _WORDS.get(self.name, self.name)


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function and its result (or the ``rule`` that determines it)."""

    parameters: tuple[Pattern, ...]
    optional: int
    repeats: bool
    result: Pattern | None
    rule: str | None
    never_null: bool

    @property
    def least(self) -> int:
        """The fewest arguments it takes."""
        return len(self.parameters) - self.optional - self.repeats

    @property
    def most(self) -> int | None:
        """The most arguments it takes, None for any number."""
        return None if self.repeats else len(self.parameters)

    def parameter(self, index: int) -> Pattern | None:
        """Return the parameter that takes the argument at ``index``; None when there is none."""
        if index < len(self.parameters):
            return self.parameters[index]
        return self.parameters[-1] if self.repeats else None


Bindings = dict[str, t.Type]
"""The current binding of each hole of a signature."""

_WORDS = {
    "ANY": "any value",
    "ARRAY": "an ARRAY",
    "COLLECTION": "an ARRAY or MAP",
    "DAYS": "an INT",
    "INTEGRAL": "a whole number",
    "MAP": "a MAP",
    "MOMENT": "a date or time",
    "N": "a number",
    "NESTED": "an ARRAY, MAP, STRUCT or VARIANT",
    "NUMBER": "a number",
    "O": "an orderable value",
    "S": "a STRING or BINARY",
}
_HOLES = frozenset("TUVKRNOS")
_TOKEN = re.compile(r"\.\.\.|->|@\w+|INTERVAL \w+(?: TO \w+)?|\w+|[<>(),:\[\]!]")


@cache
def signature(name: str) -> Signature | None:
    """Return the signature of a function, None when it has none."""
    text = SIGNATURES.get(name)
    return None if text is None else _Reader(text).signature()


def accepts(pattern: Pattern, type_: t.Type, bound: Bindings) -> bool:
    """Return whether an argument's type fits a parameter, binding the holes in it."""
    if pattern.name in _HOLES:
        return _bind(pattern.name, type_, bound)
    if t.is_open(type_):
        for hole in pattern.inside:
            accepts(hole, t.UNKNOWN if type_ is t.UNKNOWN else t.NULL, bound)
        return True
    if pattern.type is not None:
        return casts_by_itself(type_, pattern.type)
    match pattern.name, type_:
        case "ARRAY", t.Array(element):
            return accepts(pattern.inside[0], element, bound)
        case "MAP", t.Map(key, value):
            return accepts(pattern.inside[0], key, bound) and accepts(
                pattern.inside[1], value, bound
            )
    return _is_kind(pattern.name, type_)


def filled(pattern: Pattern, bound: Bindings) -> t.Type:
    """Return a pattern's type; a hole that nothing bound is UNKNOWN."""
    if pattern.type is not None:
        return pattern.type
    inside = [filled(part, bound) for part in pattern.inside]
    if pattern.name == "ARRAY":
        return t.Array(inside[0])
    if pattern.name == "MAP":
        return t.Map(inside[0], inside[1])
    return bound.get(pattern.name, t.UNKNOWN)


def casts_by_itself(type_: t.Type, wanted: t.Type) -> bool:
    """Return whether a function that wants ``wanted`` accepts a ``type_`` without a CAST."""
    if type_ == wanted or t.is_open(type_) or wanted is t.UNKNOWN:
        return True
    if wanted == t.STRING:
        return isinstance(type_, (t.Scalar, t.Decimal, t.IntervalType))
    if t.is_numeric(wanted):
        return t.is_numeric(type_)
    if wanted in t.DATETIMES:
        return type_ in t.DATETIMES
    if wanted == t.BINARY:
        return type_ == t.STRING
    match wanted, type_:
        case t.Array(a), t.Array(b):
            return casts_by_itself(b, a)
        case t.Map(k, v), t.Map(k2, v2):
            return casts_by_itself(k2, k) and casts_by_itself(v2, v)
    if isinstance(wanted, t.IntervalType) and isinstance(type_, t.IntervalType):
        return wanted.is_day_time == type_.is_day_time
    return False


def _bind(hole: str, type_: t.Type, bound: Bindings) -> bool:
    if hole == "S" and not t.is_open(type_):
        if not casts_by_itself(type_, t.STRING):
            return False
        type_ = t.BINARY if type_ == t.BINARY else t.STRING
    if hole in "NO" and not t.is_open(type_) and not _is_kind(hole, type_):
        return False
    common = common_type(bound.get(hole, t.NULL), type_)
    if common is None:
        return False
    bound[hole] = common
    return True


def _is_kind(kind: str, type_: t.Type) -> bool:
    match kind:
        case "ANY":
            return True
        case "NUMBER":
            return t.is_numeric(type_)
        case "INTEGRAL":
            return t.is_integral(type_)
        case "DAYS":
            return t.is_integral(type_) and type_ != t.BIGINT
        case "N":
            return t.is_numeric(type_) or isinstance(type_, t.IntervalType)
        case "O":
            return t.is_orderable(type_)
        case "MOMENT":
            return type_ in t.DATETIMES or type_ == t.STRING
        case "NESTED":
            return isinstance(type_, (t.Array, t.Map, t.Struct)) or type_ == t.VARIANT
        case "COLLECTION":
            return isinstance(type_, (t.Array, t.Map))
    return False


class _Reader:
    """Parses the text of one signature."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._at = 0

    def signature(self) -> Signature:
        parameters, optional, repeats = self._parameters("->")
        result, rule = None, None
        if self._peek().startswith("@"):
            rule = self._next()[1:]
        else:
            result = self._pattern()
        return Signature(parameters, optional, repeats, result, rule, self._peek() == "!")

    def _parameters(self, end: str) -> tuple[tuple[Pattern, ...], int, bool]:
        found: list[Pattern] = []
        optional, repeats = 0, False
        while self._peek() != end:
            bracket = self._skip("[")
            found.append(self._pattern())
            optional += bracket
            if bracket:
                self._next()
            repeats = self._skip("...") or repeats
            self._skip(",")
        self._next()
        return tuple(found), optional, repeats

    def _pattern(self) -> Pattern:
        name = self._next()
        if name == "fn":
            self._next()
            parameters, optional, _ = self._parameters(")")
            self._next()
            return Pattern("fn", (*parameters, self._pattern()), optional=optional)
        if name == "DECIMAL":
            precision, scale = [self._next() for _ in range(5)][1:4:2]
            return Pattern(name, type=t.Decimal(int(precision), int(scale)))
        if self._skip("<"):
            inside = [self._pattern()]
            while self._skip(","):
                inside.append(self._pattern())
            self._next()
            return Pattern(name, tuple(inside))
        return Pattern(name, type=None if name in _HOLES else t.plain(name))

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _skip(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True
