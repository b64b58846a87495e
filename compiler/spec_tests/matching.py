"""Pairs expected rows with actual ones, as many as possible.

An expected row may give only some cells, and numbers need only be close: it may match several rows,
and these may match others. The result is a maximum matching of a bipartite graph. Equal rows are
one node with a count, and a row is compared only with those that have its exact cells, so that the
work is linear in the number of rows where such cells identify rows.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeGuard

from ...contracts.records import dataclass
from .model import TOLERANCE, Column, Expect
from .values import Value

Pairs = list[tuple[int, int]]
"""Positions of an expected row and of the row that matches it, in the order of the first."""

Got = Mapping[str, Value]
Alike = Callable[[Column, Got, Got], bool]
"""Whether a cell of an expected row matches that of an actual row."""


def matched(expect: Expect, got: Sequence[Got], alike: Alike, exact: Iterable[Column]) -> Pairs:
    """Return as many pairs of matching rows as possible, each row in at most one.

    In the ``exact`` columns only equal cells match. If an order is expected and all rows are in
    that order, so are the pairs.
    """
    found = _in_order(expect, got, alike) if expect.ordered else []
    if expect.ordered and len(found) == len(expect.rows):
        return found
    return _Graph(expect, got, alike, frozenset(c.name for c in exact)).pairs()


def cell_key(value: Value) -> Hashable:
    """Return a key that is equal for equal values, whatever the order of a map's keys."""
    if isinstance(value, dict):
        return frozenset((repr(key), cell_key(held)) for key, held in value.items())
    if isinstance(value, list):
        return tuple(cell_key(one) for one in value)
    return repr(value)


def _in_order(expect: Expect, got: Sequence[Got], alike: Alike) -> Pairs:
    """Return for each expected row the first match after that of the previous one."""
    found: Pairs = []
    for place, row in enumerate(got):
        if len(found) == len(expect.rows):
            break
        wanted = expect.rows[len(found)].values
        if all(alike(c, wanted, row) for c in expect.columns if c.name in wanted):
            found.append((len(found), place))
    return found


@dataclass(slots=True)
class _Node:
    """Equal rows: their positions, their cells, and how many have no partner yet."""

    places: list[int]
    values: Got
    free: int = 0


class _Graph:
    """Nodes of equal rows on two sides; ``flow`` is how many rows of two nodes are paired."""

    def __init__(
        self, expect: Expect, got: Sequence[Got], alike: Alike, exact: frozenset[str]
    ) -> None:
        self._columns = expect.columns
        self._alike = alike
        self._wanted = _nodes([row.values for row in expect.rows])
        self._got = _nodes(got)
        self._exact = exact
        self._tolerance = expect.tolerance
        self._indexes: dict[tuple[str, ...], _Index] = {}
        self._edges: list[list[int] | None] = [None] * len(self._wanted)
        self._flow: list[dict[int, int]] = [{} for _ in self._wanted]
        self._back: list[set[int]] = [set() for _ in self._got]
        self._given_up: set[int] = set()

    def pairs(self) -> Pairs:
        """Return a maximum matching, row by row."""
        # Rows with the most cells have the fewest candidates.
        order = sorted(
            range(len(self._wanted)),
            key=lambda node: (-len(self._wanted[node].values), self._wanted[node].places[0]),
        )
        for node in order:
            for other in self._neighbours(node):
                self._move(node, other, min(self._wanted[node].free, self._got[other].free))
                if not self._wanted[node].free:
                    break
        for node in order:
            while self._wanted[node].free and self._augment(node):
                pass
        return self._paired()

    def _move(self, node: int, other: int, count: int) -> None:
        if count:
            self._shift(node, other, count)
            self._wanted[node].free -= count
            self._got[other].free -= count

    def _shift(self, node: int, other: int, count: int) -> None:
        held = self._flow[node].get(other, 0) + count
        if held:
            self._flow[node][other] = held
            self._back[other].add(node)
        else:
            del self._flow[node][other]
            self._back[other].discard(node)

    def _augment(self, start: int) -> bool:
        """Find partners for rows of a node by giving others new ones.

        Nodes visited by a failed search can't help a later one either.
        """
        came: dict[int, int] = {}
        through: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for other in self._neighbours(node):
                if other in came or other in self._given_up:
                    continue
                came[other] = node
                if self._got[other].free:
                    self._take_path(start, other, came, through)
                    return True
                for partner in sorted(self._back[other] - through.keys() - {start}):
                    through[partner] = other
                    waiting.append(partner)
        self._given_up.update(came)
        return False

    def _take_path(
        self, start: int, end: int, came: Mapping[int, int], through: Mapping[int, int]
    ) -> None:
        """Pair one row along a path: each node on it passes a partner to the previous one."""
        self._wanted[start].free -= 1
        self._got[end].free -= 1
        node, other = came[end], end
        self._shift(node, other, 1)
        while node != start:
            other = through[node]
            self._shift(node, other, -1)
            node = came[other]
            self._shift(node, other, 1)

    def _neighbours(self, node: int) -> list[int]:
        known = self._edges[node]
        if known is None:
            known = self._edges[node] = self._found(self._wanted[node].values)
        return known

    def _found(self, wanted: Got) -> list[int]:
        given = tuple(c.name for c in self._columns if c.name in wanted)
        index = self._indexes.get(given)
        if index is None:
            columns = [c for c in self._columns if c.name in wanted]
            index = _Index(columns, self._exact, self._got, self._tolerance)
            self._indexes[given] = index
        return [
            other
            for other in index.candidates(wanted)
            if all(self._alike(c, wanted, self._got[other].values) for c in index.columns)
        ]

    def _paired(self) -> Pairs:
        left = [iter(node.places) for node in self._got]
        found: Pairs = []
        for node, flow in zip(self._wanted, self._flow, strict=True):
            partners = (other for other in sorted(flow) for _ in range(flow[other]))
            for place, other in zip(node.places, partners, strict=False):
                found.append((place, next(left[other])))
        return sorted(found)


class _Index:
    """The nodes of rows by their exact cells, and among those in the order of one numeric cell."""

    def __init__(
        self,
        columns: Sequence[Column],
        exact: frozenset[str],
        nodes: Sequence[_Node],
        tolerance: float | None,
    ) -> None:
        self.columns = columns
        self._exact = [c.name for c in columns if c.name in exact]
        number = next((c for c in columns if str(c.type) in TOLERANCE), None)
        self._number = None if number is None else number.name
        self._tolerance = 0.0
        if number is not None:
            self._tolerance = TOLERANCE[str(number.type)] if tolerance is None else tolerance
        self._groups: dict[Hashable, list[int]] = {}
        for place, node in enumerate(nodes):
            self._groups.setdefault(self._key(node.values), []).append(place)
        self._sorted = {key: self._split(found, nodes) for key, found in self._groups.items()}

    def candidates(self, wanted: Got) -> Sequence[int]:
        """Return the nodes that may match a row."""
        key = self._key(wanted)
        at = None if self._number is None else wanted[self._number]
        if not _is_finite(at) or self._tolerance >= 1:
            return self._groups.get(key, ())
        numbers, nodes = self._sorted.get(key, ((), ()))
        reach = self._tolerance * max(1.0, abs(at)) / (1 - self._tolerance) * 1.001
        return sorted(nodes[bisect_left(numbers, at - reach) : bisect_right(numbers, at + reach)])

    def _key(self, values: Got) -> Hashable:
        return tuple(cell_key(values[name]) for name in self._exact)

    def _split(
        self, found: Iterable[int], nodes: Sequence[_Node]
    ) -> tuple[Sequence[float], Sequence[int]]:
        if self._number is None:
            return (), ()
        held = [(nodes[place].values[self._number], place) for place in found]
        numbers = sorted(pair for pair in held if _is_finite(pair[0]))
        return [at for at, _ in numbers], [place for _, place in numbers]


def _is_finite(value: Value) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _nodes(rows: Sequence[Got]) -> list[_Node]:
    found: dict[Hashable, _Node] = {}
    for place, row in enumerate(rows):
        key = tuple((name, cell_key(held)) for name, held in sorted(row.items()))
        node = found.setdefault(key, _Node([], row))
        node.places.append(place)
        node.free += 1
    return list(found.values())
