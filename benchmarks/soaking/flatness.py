"""What has grown in the second half of a soak although nothing should."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from .samples import MEGABYTE, Sample

FEWEST = 8
"""Fewer samples are not enough for a judgement."""

SHORTEST = 120.0
"""Nor is a shorter second half: much is still warming up."""

_KEPT = 100
"""Spark keeps the state of at least that many batches."""

_MOST = 150
"""Slopes are computed between at most that many samples, evenly spread."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much a figure may grow in the second half: by an amount, or by a share of what it was."""

    absolute: float
    share: float

    def allowed(self, middle: float) -> float:
        return max(self.absolute, self.share * middle)


TOLERANCES = {
    "heap": Tolerance(12 * MEGABYTE, 0.08),
    "non_heap": Tolerance(12 * MEGABYTE, 0.05),
    "direct": Tolerance(8 * MEGABYTE, 0.10),
    "jvm_rss": Tolerance(96 * MEGABYTE, 0.10),
    "python_rss": Tolerance(8 * MEGABYTE, 0.05),
    "python_objects": Tolerance(5_000, 0.04),
    "jvm_threads": Tolerance(40, 0.05),
    "python_threads": Tolerance(2, 0.0),
    "jvm_descriptors": Tolerance(12, 0.05),
    "python_descriptors": Tolerance(4, 0.0),
    "classes": Tolerance(400, 0.03),
    "state_files": Tolerance(60, 0.10),
    "state_bytes": Tolerance(4 * MEGABYTE, 0.15),
    "temporary_files": Tolerance(30, 0.15),
    "temporary_bytes": Tolerance(16 * MEGABYTE, 0.15),
    "lag": Tolerance(10, 0.5),
}
"""What must be flat. Threads and native memory fluctuate: Spark cleans up after a collection."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One figure over the second half: its median, by how much it has grown, how much it may."""

    name: str
    first: float
    middle: float
    last: float
    grown: float
    allowed: float

    @property
    def flat(self) -> bool:
        return self.grown <= self.allowed


def growths(samples: Sequence[Sample]) -> list[Growth]:
    """The figures that must be flat, over the second half of the last life."""
    judged = second_half(samples)
    if not judged or judged[-1]["at"] - judged[0]["at"] < SHORTEST:
        return []
    found = []
    for name, tolerance in TOLERANCES.items():
        points = [(sample["at"], sample[name]) for sample in judged if name in sample]
        if len(points) < FEWEST:
            continue
        values = [value for _, value in points]
        middle = statistics.median(values)
        grown = slope(points) * (points[-1][0] - points[0][0])
        if name == "state_bytes":
            grown = min(grown, _per_row(samples, judged, middle))
        found.append(Growth(name, values[0], middle, values[-1], grown, tolerance.allowed(middle)))
    return found


def _per_row(samples: Sequence[Sample], judged: Sequence[Sample], middle: float) -> float:
    """By how much the state has grown for each row of the batches that are kept, in bytes of all.

    If other processes use the processor the batches are fewer and larger, and so is the state of a
    number of them; a leak grows all the same.
    """
    points = []
    before = 0
    for sample in judged:
        while samples[before + 1]["epoch"] <= sample["epoch"] - _KEPT:
            before += 1
        rows = sample["rows_in"] - samples[before]["rows_in"]
        epochs = sample["epoch"] - samples[before]["epoch"]
        if samples[before]["life"] == sample["life"] and rows > 0 and epochs > 0:
            points.append((sample["at"], sample["state_bytes"] * epochs / rows))
    if len(points) < FEWEST:
        return float("inf")
    share = slope(points) / statistics.median(value for _, value in points)
    return middle * share * (points[-1][0] - points[0][0])


def second_half(samples: Sequence[Sample]) -> list[Sample]:
    """The samples of the second half of a soak, of its last life without that one's beginning."""
    if not samples:
        return []
    last = [sample for sample in samples if sample["life"] == samples[-1]["life"]]
    begins = max(samples[-1]["at"] / 2, last[0]["at"] + (samples[-1]["at"] - last[0]["at"]) / 3)
    return [sample for sample in last if sample["at"] >= begins]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of all slopes between two points, which is robust against outliers."""
    few = points[:: max(1, len(points) // _MOST)]
    slopes = [(w - v) / (t - s) for (s, v), (t, w) in combinations(few, 2) if t > s]
    return statistics.median(slopes) if slopes else 0.0
