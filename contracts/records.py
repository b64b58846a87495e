"""``dataclass`` at a fifth of the standard one's definition cost.

Hundreds of frozen classes are defined when the compiler is imported, and ``dataclasses`` compiles
six methods for each: an eighth of a second before a spec is read. This one compiles the constructor
only; equality, hash and text are shared functions over the fields. Type checkers see the standard
decorator, and they ensure that nothing is assigned after construction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, *, frozen: bool = False, slots: bool = False
    ) -> type | Callable[[type], type]:
        """Make a class a data class; one that is not frozen gets the standard decorator."""
        if cls is None:
            return lambda found: dataclass(found, frozen=frozen, slots=slots)
        if not frozen:
            return dataclasses.dataclass(cls, slots=slots)
        own = cls.__dict__
        made = dataclasses.dataclass(cls, slots=slots, eq=False, repr=False)
        fields = dataclasses.fields(made)
        made._compared = tuple(f.name for f in fields if f.compare)
        made._shown = tuple(f.name for f in fields if f.repr)
        for name, method in _SHARED.items():
            if name not in own:
                setattr(made, name, method)
        return made


def _equal(self: Any, other: Any) -> bool:
    if self is other:
        return True
    if type(self) is not type(other):
        return False
    return all(getattr(self, name) == getattr(other, name) for name in self._compared)


def _hash(self: Any) -> int:
    return hash((type(self), *[getattr(self, name) for name in self._compared]))


def _text(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
    return f"{type(self).__name__}({shown})"


_SHARED = {"__eq__": _equal, "__hash__": _hash, "__repr__": _text}
