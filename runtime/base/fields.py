"""The fields of a note, each checked for the type that its reader needs.

A checksum shows that a note is as it was written. Whether it has what its reader needs is checked
here: each getter raises ValueError, which names the field, for one that is missing or of another
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
_LEAST = -(2**63)


class Fields:
    """The fields of a JSON object; `place` says where it is in its note.

    >>> Fields({"epoch": 12}).whole("epoch")
    12
    >>> Fields({"place": {"device": "x"}}).within("place").whole("device")
    Traceback (most recent call last):
    ValueError: its `place.device` is not a whole number
    """

    def __init__(self, document: object, place: str = "") -> None:
        if not isinstance(document, Mapping):
            raise ValueError(
                f"its `{place}` is not an object" if place else "it is not a JSON object"
            )
        self._document: Mapping[str, Any] = document
        self._place = place

    def check_format(self, *known: int) -> None:
        """Raises ValueError for a note of another version."""
        found = self._document.get("format")
        if found not in known or isinstance(found, bool):
            raise ValueError(f"its format is {found}, this runtime reads {known[-1]}")

    def text(self, name: str) -> str:
        return self._of(name, str, "a text")

    def whole(self, name: str, least: int | None = None) -> int:
        """A whole number of 64 bits, `least` or more."""
        found = self._of(name, int, "a whole number")
        if isinstance(found, bool) or not _LEAST <= found <= -_LEAST - 1:
            raise self.wrong(name, "a whole number of 64 bits")
        if least is not None and found < least:
            raise self.wrong(name, f"a number of at least {least}")
        return found

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false; `default` when it is missing, if there is one."""
        if default is not None and name not in self._document:
            return default
        return self._of(name, bool, "true or false")

    def maybe(self, name: str, read: Callable[[str], T]) -> T | None:
        """The result of `read`, one of the getters; None when the field is missing or null."""
        return None if self._document.get(name) is None else read(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self.list(name, str, "a list of texts"))

    def list(self, name: str, kind: type[T], what: str) -> list[T]:
        """A list whose items are all of one type."""
        found = self._of(name, list, what)
        if not all(isinstance(item, kind) for item in found):
            raise self.wrong(name, what)
        return list(found)

    def within(self, name: str) -> Fields:
        """The fields of an object within this one."""
        return Fields(self._document.get(name), self._at(name))

    def items(self, name: str) -> Iterator[Fields]:
        """The objects of a list."""
        for number, item in enumerate(self._of(name, list, "a list")):
            yield Fields(item, f"{self._at(name)}[{number}]")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object as it is."""
        found: Mapping[str, Any] = self._of(name, dict, "an object")
        return found

    def get(self, name: str) -> Any:
        """A field of any type, None when it is missing."""
        return self._document.get(name)

    def wrong(self, name: str, what: str) -> ValueError:
        """The error for a field that is not `what` it must be."""
        if name not in self._document:
            return ValueError(f"it has no `{self._at(name)}`")
        return ValueError(f"its `{self._at(name)}` is not {what}")

    def _of(self, name: str, kind: type[T], what: str) -> T:
        found = self._document.get(name)
        if not isinstance(found, kind):
            raise self.wrong(name, what)
        return found

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name
