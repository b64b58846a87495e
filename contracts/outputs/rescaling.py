"""What a rescaling rewrites, and whether it was done."""

from __future__ import annotations

from typing import Literal, TypedDict


class RescaledOperator(TypedDict):
    """The state of an operator of a query at the barrier; ``stays`` is why it can't be divided."""

    query: str
    id: str
    kind: str
    rows: int
    bytes: int
    stays: str | None


class Rescaling(TypedDict):
    """``streamc rescale``.

    ``rows`` and ``bytes`` are those rewritten, as of the barrier; ``again`` are the epochs after it
    that run again. ``seconds`` is an estimate, None before the first rescaling of a state.
    ``generation`` and ``savepoint`` are the new ones, None if nothing was changed.
    """

    format: Literal[1]
    kind: Literal["rescaling"]
    pipeline: str
    barrier: int
    epoch: int
    before: int
    after: int
    rows: int
    bytes: int
    again: int
    seconds: float | None
    operators: list[RescaledOperator]
    generation: str | None
    savepoint: str | None
