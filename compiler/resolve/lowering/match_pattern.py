"""Row patterns as automata: the places of a match, and the transitions between them.

A place is an occurrence of a variable in the pattern; `A B+ A` has three. What may follow a place
is in SQL's order of preference: the first alternative before the second, another iteration of a
greedy repetition before its end, the reverse for a reluctant one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise

from ....contracts.records import dataclass
from ....dsl.ast import queries as q
from ....dsl.ast.walk import walk

MOST_PLACES = 100
"""How many places a pattern may have, with counted repetitions expanded."""


@dataclass(frozen=True, slots=True)
class Place:
    """A variable at one place of a pattern; the second `A` is called `A 2`."""

    name: str
    variable: str


@dataclass(frozen=True, slots=True)
class Follow:
    """The next places in order of preference, and whether a match may end instead.

    An end is never followed by less preferred places.
    """

    places: tuple[Place, ...]
    ends: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """The places of a pattern in the order of its text, what follows each, how a match begins."""

    places: tuple[Place, ...]
    begin: Follow
    follow: dict[str, Follow]

    def rows_before(self) -> dict[str, int]:
        """Return how many rows a match has at least before the row at a place, by its name."""
        found: dict[str, int] = {}
        reached = self.begin.places
        for count in range(len(self.places)):
            fresh = [place for place in reached if place.name not in found]
            found.update({place.name: count for place in fresh})
            reached = tuple(then for place in fresh for then in self.follow[place.name].places)
        return found

    def may_lack(self, variable: str) -> bool:
        """Return whether a match may have no row of a variable."""
        return self.begin.ends or self._ends_without(self.begin.places, variable)

    def may_begin(self, variable: str, *, alone: bool) -> bool:
        """Return whether the first row may be one of a variable; ``alone``: the only one."""
        first = [place for place in self.begin.places if place.variable == variable]
        if not alone:
            return bool(first)
        follows = [self.follow[place.name] for place in first]
        return any(one.ends or self._ends_without(one.places, variable) for one in follows)

    def _ends_without(self, places: tuple[Place, ...], variable: str) -> bool:
        """Return whether a match may end, starting at these places, without a row of a variable."""
        waiting, seen = list(places), set[str]()
        while waiting:
            place = waiting.pop()
            if place.variable == variable or place.name in seen:
                continue
            seen.add(place.name)
            if self.follow[place.name].ends:
                return True
            waiting += self.follow[place.name].places
        return False

    def met_twice(self) -> frozenset[str]:
        """Return the places that one row may reach from two places, in one attempt."""
        pairs = set(_pairs(self.begin.places, self.begin.places))
        waiting, found = list(pairs), set()
        while waiting:
            one, other = waiting.pop()
            for pair in _pairs(self.follow[one].places, self.follow[other].places):
                if one != other and pair[0] == pair[1]:
                    found.add(pair[0])
                if pair not in pairs:
                    pairs.add(pair)
                    waiting.append(pair)
        return frozenset(found)


def _pairs(one: tuple[Place, ...], other: tuple[Place, ...]) -> Iterator[tuple[str, str]]:
    return ((a.name, b.name) for a in one for b in other)


@dataclass
class _Node:
    """A place with the next node, a choice between nodes, or (neither) the end."""

    place: Place | None = None
    targets: list[_Node] = field(default_factory=list)


def automaton(pattern: q.Pattern) -> Automaton:
    """Return the automaton of a pattern, which has ``size(pattern)`` places."""
    numbers: dict[str, int] = {}
    places: list[Place] = []
    nodes: dict[str, _Node] = {}

    def built(part: q.Pattern) -> tuple[_Node, list[_Node]]:
        """Return the first node of a part, and the nodes to which its end must be added."""
        match part:
            case q.PatternVariable(_, name):
                folded = name.text.lower()
                numbers[folded] = number = numbers.get(folded, 0) + 1
                place = Place(f"{folded} {number}" if number > 1 else folded, folded)
                places.append(place)
                node = nodes[place.name] = _Node(place)
                return node, [node]
            case q.PatternSequence(_, items):
                return _in_sequence([built(item) for item in items])
            case q.PatternAlternatives(_, items):
                found = [built(item) for item in items]
                return _Node(None, [first for first, _ in found]), [
                    n for _, ns in found for n in ns
                ]
            case q.PatternRepeat():
                return repeated(part)
        raise AssertionError(part)

    def repeated(part: q.PatternRepeat) -> tuple[_Node, list[_Node]]:
        if part.at_most is None:
            parts = [built(part.item) for _ in range(max(part.at_least, 1))]
            first, ends = parts[-1]
            # After an iteration, or before the first if there need be none: another one, or the
            # end.
            choice = _Node()
            for node in ends:
                node.targets.append(choice)
            after = _choice(choice, first, reluctant=part.reluctant)
            if part.at_least == 0:
                return choice, [after]
            return _in_sequence([*parts[:-1], (first, [after])])
        parts = [built(part.item) for _ in range(part.at_least)]
        out: list[_Node] = []
        for _ in range(part.at_most - part.at_least):
            first, ends = built(part.item)
            choice = _Node()
            out.append(_choice(choice, first, reluctant=part.reluctant))
            parts.append((choice, ends))
        first, ends = _in_sequence(parts)
        return first, [*ends, *out]

    first, ends = built(pattern)
    end = _Node()
    for node in ends:
        node.targets.append(end)
    follow = {name: _follow(node.targets, end) for name, node in nodes.items()}
    return Automaton(tuple(places), _follow([first], end), follow)


def _choice(choice: _Node, turn: _Node, *, reluctant: bool) -> _Node:
    """Let a node choose between an iteration and the end, and return the end's node."""
    leave = _Node()
    choice.targets = [leave, turn] if reluctant else [turn, leave]
    return leave


def _in_sequence(parts: list[tuple[_Node, list[_Node]]]) -> tuple[_Node, list[_Node]]:
    for (_, ends), (first, _) in pairwise(parts):
        for node in ends:
            node.targets.append(first)
    return parts[0][0], parts[-1][1]


def _follow(targets: list[_Node], end: _Node) -> Follow:
    """Return the places that nodes lead to, each once, up to the end of the pattern."""
    found: list[Place] = []
    seen: set[int] = set()
    waiting = list(reversed(targets))
    while waiting:
        node = waiting.pop()
        if node is end:
            return Follow(tuple(found), ends=True)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.place is not None:
            found.append(node.place)
        else:
            waiting += reversed(node.targets)
    return Follow(tuple(found), ends=False)


def size(pattern: q.Pattern) -> int:
    """Return how many places a pattern has."""
    match pattern:
        case q.PatternSequence(_, items) | q.PatternAlternatives(_, items):
            return sum(map(size, items))
        case q.PatternRepeat(_, item, at_least, at_most):
            return size(item) * max(1, at_least if at_most is None else at_most)
    return 1


def variables(pattern: q.Pattern) -> Iterator[q.PatternVariable]:
    """Yield the variables of a pattern as written."""
    return (part for part in walk(pattern) if isinstance(part, q.PatternVariable))


def repetitions(pattern: q.Pattern) -> Iterator[q.PatternRepeat]:
    """Yield the repetitions of a pattern, the outer ones first."""
    return (part for part in walk(pattern) if isinstance(part, q.PatternRepeat))
