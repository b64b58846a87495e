"""In how many partitions a state lies, as Spark's own logs say.

Spark records the number in the log of each batch, and every later batch keeps it, whatever the
settings say.
"""

from __future__ import annotations

import json

from ...contracts.reserved import SHUFFLE_PARTITIONS
from ..storage.file_system import Files


def recorded_partitions(files: Files, generation: str) -> int | None:
    """The number in the logs of a generation's folder; None before the first batch.

    A log that cannot be read is passed over: the start that follows examines them all.
    """
    found: set[int] = set()
    for query in files.list(f"{generation}/queries"):
        offsets = f"{generation}/queries/{query}/offsets"
        batches = [name for name in files.list(offsets) if name.isdigit()]
        if batches:
            text = files.read(f"{offsets}/{max(batches, key=int)}") or ""
            found.update(_number(text))
    return max(found, default=None)


def _number(text: str) -> list[int]:
    try:
        return [int(json.loads(text.split("\n")[1])["conf"][SHUFFLE_PARTITIONS])]
    except (IndexError, KeyError, TypeError, ValueError):
        return []
