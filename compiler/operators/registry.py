"""The kinds by the classes of their steps. Importing the package registers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...dsl.reports.diagnostics import InternalError
from ..model.steps import Stateful, Step
from .kind import OperatorKind, RootKind, RowKind, StepKind

S = TypeVar("S", bound=Step)
K = TypeVar("K", bound=Stateful)

KINDS: dict[type[Step], StepKind[Any]] = {}
"""All kinds; only ``register`` adds to it."""


def register(kind: StepKind[Any]) -> None:
    """Add a kind of step. Raises ``InternalError`` for one that doesn't fit its step."""
    name = type(kind).__name__
    if kind.step in KINDS:
        raise InternalError(f"{name} is a second kind of {kind.step.__name__}")
    if not isinstance(kind, RowKind | RootKind):
        raise InternalError(f"{name} is over neither rows nor inputs")
    if isinstance(kind, OperatorKind) != issubclass(kind.step, Stateful):
        raise InternalError(f"{name} and {kind.step.__name__} don't agree on whether it has state")
    KINDS[kind.step] = kind


def kind_of(step: S) -> StepKind[S]:
    """Return the kind of a step."""
    return KINDS[type(step)]


def row_kind(step: S) -> RowKind[S]:
    """Return the kind of a step over the rows of another."""
    kind = kind_of(step)
    if not isinstance(kind, RowKind):
        raise InternalError(f"{type(step).__name__} is not over the rows of a step")
    return kind


def root_kind(steps: Sequence[Step]) -> RootKind[Any] | None:
    """Return the kind of the first step if it reads inputs of its own."""
    kind = kind_of(steps[0]) if steps else None
    return kind if isinstance(kind, RootKind) else None


def operator_kind(step: K) -> OperatorKind[K]:
    """Return the kind of a step that keeps state."""
    kind = kind_of(step)
    if not isinstance(kind, OperatorKind):
        raise InternalError(f"{type(step).__name__} keeps no state")
    return kind
