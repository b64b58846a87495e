"""How many batches Spark must keep, so that every retained barrier is restorable."""

from __future__ import annotations

from collections.abc import Sequence

from ...contracts.plan import Checkpoint
from .settings import RunSettings, seconds

NO_BARRIERS = Checkpoint(every="1 minute", retain=1, timeout="10 minutes", tolerate=3)
"""The policy for a Spark that runs no pipeline, and so takes no barriers."""

_LEAST_PAUSE = 0.5
_LEAST_EPOCHS = 20
_LEAST_BATCHES = 100


def epochs_between(settings: RunSettings, checkpoint: Checkpoint) -> int:
    """After how many epochs a barrier is taken early.

    Spark keeps a number of batches, not the batches of a period. So that it has those of the
    barriers to retain, epochs faster than two per second trigger barriers themselves.
    """
    pause = max(settings.cadence, _LEAST_PAUSE)
    return max(_LEAST_EPOCHS, round(seconds(checkpoint.every) / pause))


def epochs_beyond(between: int) -> int:
    """How many more epochs may open while a due barrier is not on record."""
    return between // 4


def interval(between: int, beyond: int) -> int:
    """The maximum number of epochs from one barrier of a run to the next.

    Those with input, one that settles and one that drains.
    """
    return between + beyond + 2


def batches_to_retain(
    settings: RunSettings, checkpoint: Checkpoint, last: int = 0, kept: Sequence[int] = ()
) -> int:
    """How many batches Spark must keep in a run for the barriers of its checkpoint policy.

    `last` is the last epoch when the run begins, `kept` are the epochs of the barriers existing
    then, oldest first. Runs that end without a barrier each leave an epoch that settles, so the
    last epoch can be any number of epochs after a barrier. A barrier stays until the number of
    newer ones to retain exists; a surplus one, left by a run, until the next.
    """
    between = epochs_between(settings, checkpoint)
    apart = interval(between, epochs_beyond(between))
    # The barriers of the run itself, and the epochs after the newest.
    own = (checkpoint.retain + 1) * apart
    earlier = (
        last - barrier + max(checkpoint.retain - newer, 1) * apart
        for newer, barrier in enumerate(reversed(kept))
    )
    return max(_LEAST_BATCHES, own, *earlier)
