"""Cells with entries that are read and written individually: maps, sets and lists.

They are a `MutableMapping`, a `MutableSet`, and the subset of a list that state supports: it is
read from the front, and grows at its end. What is read is a copy: to change an entry, write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from .instants import Clock
from .plan import CellPlan
from .sameness import plain_key
from .values import Convert, fitted, rank, reader, writer

Touch = Callable[[int], None]


class _Lifetime:
    """When an entry was written, for those that expire."""

    def __init__(self, plan: CellPlan, clock: Clock, touch: Touch) -> None:
        self._ttl = plan.ttl
        self._clock = clock
        self._touch = touch

    def stamped(self, *held: Any) -> tuple[Any, ...]:
        """The stored form of an entry written now; its expiry is scheduled."""
        if not self._ttl:
            return held
        self._touch(self._ttl)
        return (*held, self._clock.now)

    def is_over(self, entry: Any) -> bool:
        return bool(self._ttl) and entry[-1] + self._ttl <= self._clock.now


class _Keyed:
    """The common part of a map and a set: the state variable by keys."""

    def __init__(self, plan: CellPlan, variable: Any, clock: Clock, touch: Touch) -> None:
        self.plan = plan
        self._variable = variable
        self._lifetime = _Lifetime(plan, clock, touch)
        key = plan.schema["key"].dataType
        self._read_key, self._write_key = reader(key), writer(key)

    def _key(self, key: Any) -> tuple[Any]:
        if key is None:
            raise TypeError(f"None as a key of {self.plan.name}")
        return (plain_key(fitted(self._write_key, key, f"a key of {self.plan.name}")),)

    def _find(self, key: Any) -> Any:
        found = None if key is None else self._variable.getValue(self._key(key))
        return None if found is None or self._lifetime.is_over(found) else found

    def _put(self, key: Any, held: Any) -> None:
        self._variable.updateValue(self._key(key), self._lifetime.stamped(held))

    def _remove(self, key: Any) -> bool:
        found = self._find(key)
        if found is not None:
            self._variable.removeKey(self._key(key))
        return found is not None

    def _all(self) -> list[tuple[Any, Any]]:
        """Entries in the order of their keys, so that the order in the store does not show."""
        found = [
            (self._read_key(key[0]), entry)
            for key, entry in self._variable.iterator()
            if not self._lifetime.is_over(entry)
        ]
        return sorted(found, key=lambda pair: rank(pair[0]))

    def clear(self) -> None:
        """Removes all entries."""
        self._variable.clear()

    def sweep(self) -> bool:
        """Removes expired entries; returns whether any are left."""
        old, kept = [], False
        for key, entry in self._variable.iterator():
            if self._lifetime.is_over(entry):
                old.append(key)
            else:
                kept = True
        for key in old:
            self._variable.removeKey(key)
        return kept

    def restore(self, piece: Any) -> None:
        """Restores an entry: its key, its value, when it was written."""
        self._variable.updateValue((plain_key(piece[0]),), tuple(piece[1:]))


class MapCell(_Keyed, MutableMapping[Any, Any]):
    """A MAP: `m[k]`, `m.get(k)`, `k in m` and `m[k] = v` touch one entry."""

    def __init__(self, plan: CellPlan, variable: Any, clock: Clock, touch: Touch) -> None:
        super().__init__(plan, variable, clock, touch)
        held = plan.schema["value"].dataType
        self._read, self._write = reader(held), writer(held)

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return self._read(found[0])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put(key, fitted(self._write, value, f"a value of {self.plan.name}"))

    def __delitem__(self, key: Any) -> None:
        if not self._remove(key):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self._find(key) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._all()])

    def __len__(self) -> int:
        return len(self._all())

    def items(self) -> Any:
        """Keys and values, read once, by the order of the keys."""
        return {key: self._read(entry[0]) for key, entry in self._all()}.items()

    def values(self) -> Any:
        """The values, read once, by the order of their keys."""
        return dict(self.items()).values()

    def replace(self, whole: Any) -> None:
        """Replaces all entries."""
        pairs = [*dict(whole).items()] if whole is not None else []
        self.clear()
        for key, value in pairs:
            self[key] = value

    def __repr__(self) -> str:
        return repr(dict(self.items()))


class SetCell(_Keyed, MutableSet[Any]):
    """A SET: `e in s`, `s.add(e)` and `s.discard(e)` touch one element."""

    def __contains__(self, element: object) -> bool:
        return self._find(element) is not None

    def add(self, value: Any) -> None:
        """Adds an element, if it is not there."""
        self._put(value, True)

    def discard(self, value: Any) -> None:
        """Removes an element, if it is there."""
        self._remove(value)

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._all()])

    def __len__(self) -> int:
        return len(self._all())

    def replace(self, whole: Any) -> None:
        """Puts elements in the place of all that is there."""
        elements = [*whole] if whole is not None else []
        self.clear()
        for element in elements:
            self.add(element)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def __repr__(self) -> str:
        return repr(set(self))


class ListCell:
    """A LIST: `append` and `extend` write at its end, `list(l)` reads all of it."""

    def __init__(self, plan: CellPlan, variable: Any, clock: Clock, touch: Touch) -> None:
        self.plan = plan
        self._variable = variable
        self._lifetime = _Lifetime(plan, clock, touch)
        held = plan.schema["value"].dataType
        self._read: Convert = reader(held)
        self._write: Convert = writer(held)

    def append(self, element: Any) -> None:
        """Puts an element at the end."""
        self._variable.appendValue(self._entry(element))

    def extend(self, elements: Iterable[Any]) -> None:
        """Puts elements at the end."""
        for element in elements:
            self.append(element)

    def __iter__(self) -> Iterator[Any]:
        found = [*self._variable.get()]
        return iter([self._read(one[0]) for one in found if not self._lifetime.is_over(one)])

    def __len__(self) -> int:
        # Converting it to a list would call this.
        return sum(1 for _ in self)

    def clear(self) -> None:
        """Removes all elements."""
        self._variable.clear()

    def replace(self, whole: Any) -> None:
        """Puts elements in the place of all that is there."""
        entries = [self._entry(element) for element in whole] if whole is not None else []
        self._put(entries)

    def sweep(self) -> bool:
        """Removes expired entries; returns whether any are left."""
        found = [tuple(one) for one in self._variable.get()]
        kept = [one for one in found if not self._lifetime.is_over(one)]
        if len(kept) < len(found):
            self._put(kept)
        return bool(kept)

    def restore(self, piece: Any) -> None:
        """Restores an element: itself, when it was written."""
        self._variable.appendValue(tuple(piece))

    def _entry(self, element: Any) -> tuple[Any, ...]:
        held = fitted(self._write, element, f"an element of {self.plan.name}")
        return self._lifetime.stamped(held)

    def _put(self, entries: list[tuple[Any, ...]]) -> None:
        if entries:
            self._variable.put(entries)
        else:
            self._variable.clear()

    def __repr__(self) -> str:
        return repr([*self])


Cell = MapCell | SetCell | ListCell

_CLASSES: dict[str, type[MapCell] | type[SetCell] | type[ListCell]] = {
    "map": MapCell,
    "set": SetCell,
    "list": ListCell,
}


def cell_of(plan: CellPlan, handle: Any, clock: Clock, touch: Touch) -> Cell:
    """The cell on its state variable in Spark."""
    fields = plan.schema.fields
    if plan.kind == "list":
        variable = handle.getListState(plan.variable, plan.schema)
    else:
        keys, held = type(plan.schema)(fields[:1]), type(plan.schema)(fields[1:])
        variable = handle.getMapState(plan.variable, keys, held)
    return _CLASSES[plan.kind](plan, variable, clock, touch)
