"""Which calls are non-deterministic: they give another value each time for the same row."""

from __future__ import annotations

from ...dsl.ast.expressions import Call, StringLiteral

_DRAWN = frozenset(
    {
        "current_time",
        "monotonically_increasing_id",
        "rand",
        "randn",
        "random",
        "randstr",
        "shuffle",
        "spark_partition_id",
        "uniform",
        "uuid",
    }
)
_CIPHER_MODE, _INITIAL_VECTOR = 2, 4
"""The arguments of AES_ENCRYPT that decide whether equal texts become equal bytes."""


def is_drawn(call: Call) -> bool:
    """Return whether a call's value is random, or depends on where it is computed."""
    name = call.name.text.lower()
    return _draws_a_vector(call) if name == "aes_encrypt" else name in _DRAWN


def _draws_a_vector(call: Call) -> bool:
    """Return whether AES_ENCRYPT draws an initialisation vector: when it needs one and has none."""
    mode, vector = (
        call.arguments[place] if len(call.arguments) > place else None
        for place in (_CIPHER_MODE, _INITIAL_VECTOR)
    )
    if isinstance(mode, StringLiteral) and mode.value.upper() == "ECB":
        return False
    return vector is None or (isinstance(vector, StringLiteral) and not vector.value)
