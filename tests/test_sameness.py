"""Values of classes: which are the same, and their key in state."""

from __future__ import annotations

import math
from typing import Any

import pytest
from streamc.runtime.python_operator.sameness import plain_key, same

NAN = float("nan")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (NAN, -NAN, True),
        (0.0, -0.0, False),
        (1.5, 1.5, True),
        ([1.0, NAN], [1.0, NAN], True),
        ([0.0], [-0.0], False),
        ([1], [1, 2], False),
        ((1, (NAN,)), (1, (NAN,)), True),
        ({"a": NAN, "b": 1}, {"b": 1, "a": NAN}, True),
        ({"a": 1}, {"a": 2}, False),
        ({}, {"a": None}, False),
        (b"\x01", b"\x01", True),
        (None, None, True),
        (None, 0.0, False),
    ],
)
def test_same(one: Any, other: Any, alike: bool) -> None:
    assert same(one, other) is alike
    assert same(other, one) is alike


def test_there_is_one_zero_and_one_nan_among_keys() -> None:
    assert math.copysign(1.0, plain_key(-0.0)) == 1.0
    assert same(plain_key((1, [-0.0], -NAN)), (1, [0.0], NAN))
    assert plain_key("x") == "x"
