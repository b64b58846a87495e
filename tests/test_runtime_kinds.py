"""Kinds of operators in the runtime: each operator of a plan has one, and none lacks a part."""

from __future__ import annotations

from typing import get_args

import pytest
import streamc.runtime.kinds  # noqa: F401 - registers them
from streamc.contracts.plan import Operator
from streamc.runtime.kinds.kind import OperatorKind
from streamc.runtime.kinds.registry import KINDS, register


def test_each_operator_of_a_plan_has_a_kind() -> None:
    assert {name: kind.operator for name, kind in KINDS.items()} == {
        operator.KIND: operator for operator in get_args(Operator)
    }


def test_no_operator_has_two_kinds() -> None:
    with pytest.raises(AssertionError, match="aggregate has two kinds"):
        register(KINDS["aggregate"])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_that_leaves_a_part_out_cannot_be_made(kind: OperatorKind[Operator]) -> None:
    for part in OperatorKind.__abstractmethods__:
        partial = type("Partial", (type(kind),), {part: getattr(OperatorKind, part)})
        with pytest.raises(TypeError, match=part):
            partial()
