"""The kinds of operators by the names that plans have for them."""

from __future__ import annotations

from typing import Any

from ...contracts.plan import Operator
from .kind import OperatorKind

KINDS: dict[str, OperatorKind[Any]] = {}


def register(kind: OperatorKind[Any]) -> None:
    """Makes a kind known."""
    name = kind.operator.KIND
    if name in KINDS:
        raise AssertionError(f"{name} has two kinds")
    KINDS[name] = kind


def kind_of(operator: Operator) -> OperatorKind[Any]:
    """The kind of an operator of a plan."""
    return KINDS[operator.KIND]
