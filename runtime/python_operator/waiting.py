"""The rows of a key that wait for the watermark, each an entry of its own."""

from __future__ import annotations

import struct
from typing import Any

from pyspark.sql.types import LongType, StructField, StructType

from .plan import OperatorPlan
from .values import reader, writer

_PLACE = StructType([StructField("at", LongType()), StructField("number", LongType())])


class Waiting:
    """Rows by their instants and numbers, laid out like those of the kernel's programs."""

    def __init__(self, plan: OperatorPlan, handle: Any) -> None:
        self._variable = handle.getMapState("waiting", _PLACE, plan.row)
        self._read, self._write = reader(plan.row), writer(plan.row)

    def add(self, at: int, number: int, row: Any) -> None:
        """Adds a waiting row."""
        self._variable.updateValue((_ordered(at), _ordered(number)), self._write(row))

    def take(self, until: int) -> tuple[list[tuple[int, Any]], int | None]:
        """Removes and returns the due rows, and the instant of the first that is not due.

        All rows of the key are read: Spark keeps the iterator of a map open until it is exhausted.
        """
        due, later = [], []
        for place, row in self._variable.iterator():
            at = _plain(place[0])
            if at <= until:
                due.append((at, place, row))
            else:
                later.append(at)
        for _, place, _ in due:
            self._variable.removeKey(place)
        return [(at, self._read(row)) for at, _, row in due], min(later, default=None)


def _ordered(n: int) -> int:
    """A number whose little-endian bytes sort like the numbers.

    >>> [_plain(_ordered(n)) for n in (-3, 0, 7)]
    [-3, 0, 7]
    """
    (found,) = struct.unpack("<q", struct.pack(">Q", n + 2**63))
    return int(found)


def _plain(written: int) -> int:
    (found,) = struct.unpack(">Q", struct.pack("<q", written))
    return int(found) - 2**63
