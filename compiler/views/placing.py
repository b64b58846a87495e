"""The positions of the boxes and arrows of a flow: layers from left to right.

A box is right of everything it reads. An arrow across several layers goes through a point in each
of those between. Layers are sorted so that few arrows cross, then shifted so that arrows are
straight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

ROUNDS = 12


@dataclass(slots=True)
class Spot:
    """A box, or a point that an arrow goes through, which has no size.

    ``x`` is the left end and ``y`` the middle; ``before`` and ``after`` are the numbers of the
    spots to which arrows connect it.
    """

    layer: int
    width: int = 0
    height: int = 0
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    x: int = 0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Placed:
    """Spots by number, first those of the boxes; the spots that each arrow goes through."""

    spots: list[Spot]
    ways: list[list[int]]
    width: int
    height: int


def place(
    sizes: Sequence[tuple[int, int]],
    arrows: Sequence[tuple[int, int]],
    *,
    between_layers: int,
    between_boxes: int,
) -> Placed:
    """Return the positions of boxes of given sizes, joined by arrows between their numbers.

    The arrows form no cycle. The same input gives the same positions.
    """
    layers_of = _layers(len(sizes), arrows)
    spots = [Spot(layers_of[i], *size) for i, size in enumerate(sizes)]
    ways = [_way(start, end, spots) for start, end in arrows]
    layers: list[list[int]] = [[] for _ in range(max(layers_of, default=-1) + 1)]
    for number, spot in enumerate(spots):
        layers[spot.layer].append(number)
    layers = _sorted(layers, spots)
    _set_columns(layers, spots, between_layers)
    _set_rows(layers, spots, between_boxes)
    width = max((s.x + s.width for s in spots), default=0)
    height = max((round(s.y + s.height / 2) for s in spots), default=0)
    return Placed(spots, ways, width, height)


def _layers(count: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each box: right of all that it reads."""
    layers = [0] * count
    for _ in range(count):
        for start, end in arrows:
            layers[end] = max(layers[end], layers[start] + 1)
    return layers


def _way(start: int, end: int, spots: list[Spot]) -> list[int]:
    way = [start]
    for layer in range(spots[start].layer + 1, spots[end].layer):
        way.append(len(spots))
        spots.append(Spot(layer))
    way.append(end)
    for one, other in pairwise(way):
        spots[one].after.append(other)
        spots[other].before.append(one)
    return way


def _sorted(layers: list[list[int]], spots: list[Spot]) -> list[list[int]]:
    """Return the layers in the tried order with the fewest crossings."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, spots)
    for turn in range(ROUNDS):
        forward = turn % 2 == 0
        for layer in layers[1:] if forward else layers[-2::-1]:
            ranks = {n: rank for one in layers for rank, n in enumerate(one)}
            order = {n: _middle(spots[n], ranks, rank, forward) for rank, n in enumerate(layer)}
            layer.sort(key=order.__getitem__)
        if (count := _crossings(layers, spots)) < fewest:
            best, fewest = [list(layer) for layer in layers], count
    return best


def _middle(spot: Spot, ranks: Mapping[int, int], rank: int, forward: bool) -> tuple[float, int]:
    """Return the mean rank of a spot's neighbours; those without any keep theirs."""
    found = [ranks[n] for n in (spot.before if forward else spot.after)]
    return (sum(found) / len(found) if found else rank, rank)


def _crossings(layers: Sequence[Sequence[int]], spots: Sequence[Spot]) -> int:
    count = 0
    for layer, following in pairwise(layers):
        ranks = {n: rank for rank, n in enumerate(following)}
        ends = [
            ranks[n] for number in layer for n in sorted(spots[number].after, key=ranks.__getitem__)
        ]
        count += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return count


def _set_columns(layers: Sequence[Sequence[int]], spots: Sequence[Spot], gap: int) -> None:
    x = 0
    for layer in layers:
        width = max(spots[n].width for n in layer)
        for number in layer:
            spots[number].x = x
            spots[number].width = width
        x += width + gap


def _set_rows(layers: Sequence[Sequence[int]], spots: Sequence[Spot], gap: int) -> None:
    """Move spots as close to their neighbours as others in their layer allow."""
    for layer in layers:
        _settle(layer, spots, [0.0] * len(layer), gap)
    for turn in range(ROUNDS):
        forward = turn % 2 == 0
        for layer in layers if forward else layers[::-1]:
            wished = []
            for number in layer:
                spot = spots[number]
                near = spot.before if forward else spot.after
                near = near or [*spot.before, *spot.after]
                found = [spots[n].y for n in near]
                wished.append(sum(found) / len(found) if found else spot.y)
            _settle(layer, spots, wished, gap)
    top = min((s.y - s.height / 2 for s in spots), default=0.0)
    for spot in spots:
        spot.y = float(round(spot.y - top))


def _settle(layer: Sequence[int], spots: Sequence[Spot], wished: Sequence[float], gap: int) -> None:
    """Set the rows of a layer in order, spaced apart, with least squares to those wished for.

    Apart from the spacing, these are means of runs that would be in the wrong order.
    """
    offsets = [0.0]
    for one, other in pairwise(layer):
        halves = (spots[one].height + spots[other].height) / 2
        offsets.append(offsets[-1] + halves + gap)
    runs: list[tuple[float, int]] = []
    for wish, offset in zip(wished, offsets, strict=True):
        runs.append((wish - offset, 1))
        while len(runs) > 1 and runs[-2][0] > runs[-1][0]:
            (a, n), (b, m) = runs[-2:]
            runs[-2:] = [((a * n + b * m) / (n + m), n + m)]
    means = [mean for mean, count in runs for _ in range(count)]
    for number, mean, offset in zip(layer, means, offsets, strict=True):
        spots[number].y = mean + offset
