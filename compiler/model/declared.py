"""Functions and aggregates that a spec declares, resolved."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from ...contracts.records import dataclass
from ...dsl.ast.expressions import Call, Expression
from ...dsl.ast.types import TypeNode
from ...dsl.reports.source import Span
from .aggregates import AggregateFunction
from .typed import Typed
from .types import Type


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A type and the text of its declaration, for casts to it."""

    type: Type
    node: TypeNode


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; references to it in a resolved body use this spelling."""

    name: str
    type: DeclaredType


@dataclass(frozen=True, slots=True)
class SqlFunction:
    """A function whose calls are replaced by its body, with arguments for parameters.

    ``body`` has the declared type; calls of other functions in it are already replaced.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Typed
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of a Python module, called with pandas Series; ``target`` is ``module:name``."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: DeclaredType
    target: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A part of a user aggregate: what a row contributes, and the aggregate that combines this."""

    name: str
    function: AggregateFunction
    lift: Typed


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """An aggregate made of Spark's own: ``lower`` is over the accumulators by their names."""

    name: str
    parameters: tuple[Parameter, ...]
    accumulators: tuple[Accumulator, ...]
    lower: Typed
    span: Span = field(compare=False, repr=False)


DeclaredFunction: TypeAlias = SqlFunction | PythonFunction | UserAggregate


@dataclass(frozen=True, slots=True)
class DeclaredCall(Expression):
    """A call of a declared function, before it is resolved.

    ``function`` is None for a call that can't be resolved, which has been reported.
    """

    call: Call
    function: DeclaredFunction | None
