"""The layout of emitted Python: method chains, one argument per line where lists may grow.

The layout keeps diffs small rather than lines few: what may get another item (a select list,
aggregates, options) has one item per line from the start, with a trailing comma.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ...contracts.records import dataclass

WIDTH = 100
_STEP = "    "


@dataclass(frozen=True, slots=True)
class Call:
    """A method call.

    ``open`` puts each argument on a line of its own. Arguments may hold line breaks.
    """

    name: str
    arguments: tuple[Argument, ...] = ()
    open: bool = False

    def flat(self) -> str:
        """Return the call on one line."""
        return f"{self.name}({', '.join(_text(argument) for argument in self.arguments)})"

    def lines(self, prefix: str, indent: str, end: str = "") -> list[str]:
        """Return the call between ``prefix`` and ``end``, broken where it is open or too long."""
        flat = f"{indent}{prefix}{self.flat()}{end}"
        if not self.open and "\n" not in flat and len(flat) <= WIDTH:
            return [flat]
        lines = [f"{indent}{prefix}{self.name}("]
        # A lone argument that is not a list gets no comma: after joined strings it would look like
        # a tuple.
        comma = "," if self.open or len(self.arguments) > 1 else ""
        for argument in self.arguments:
            lines.extend(_placed(argument, indent + _STEP, comma))
        return [*lines, f"{indent}){end}"]


@dataclass(frozen=True, slots=True)
class Chain:
    """A receiver and the calls on it. The receiver is a name, or a call of its own."""

    head: str | Call
    calls: tuple[Call, ...] = ()

    def then(self, *calls: Call) -> Chain:
        """Return the chain with more calls."""
        return Chain(self.head, (*self.calls, *calls))

    def lines(self, indent: str, end: str = "") -> list[str]:
        """Return the chain with one call per line, the last one before ``end``.

        The first call stays on the line of a receiver that is a name.
        """
        parts = [(".", call) for call in self.calls]
        if isinstance(self.head, Call):
            parts.insert(0, ("", self.head))
        elif parts:
            parts[0] = (f"{self.head}.", self.calls[0])
        else:
            return [f"{indent}{self.head}{end}"]
        lines: list[str] = []
        for prefix, call in parts[:-1]:
            lines.extend(call.lines(prefix, indent))
        prefix, call = parts[-1]
        return [*lines, *call.lines(prefix, indent, end)]

    def text(self) -> str:
        """Return the chain as an argument of another call."""
        return "\n".join(self.lines(""))


@dataclass(frozen=True, slots=True)
class Items:
    """A list as an argument, ``name=[…]``, with one item per line."""

    name: str
    items: tuple[Argument, ...]

    def lines(self, indent: str, end: str = "") -> list[str]:
        """Return the list before ``end``."""
        lines = [f"{indent}{self.name}=["]
        for item in self.items:
            lines.extend(_placed(item, indent + _STEP, ","))
        return [*lines, f"{indent}]{end}"]

    def text(self) -> str:
        """Return the list as if nothing preceded it."""
        return "\n".join(self.lines(""))


Argument: TypeAlias = str | Chain | Items
"""An argument of a call: finished text, or something laid out at its place."""


def _text(argument: Argument) -> str:
    return argument if isinstance(argument, str) else argument.text()


def _placed(argument: Argument, indent: str, end: str) -> Iterable[str]:
    """Return the lines of an argument at its place."""
    if isinstance(argument, str):
        return indented(argument + end, indent)
    return argument.lines(indent, end)


def assignment(name: str, chain: Chain, indent: str = _STEP) -> list[str]:
    """Return ``name = chain``, in parentheses when it takes more than one call or line."""
    if len(chain.calls) <= 1:
        lines = chain.lines(indent)
        first = f"{indent}{name} = {lines[0].lstrip()}"
        if len(lines) == 1 and len(first) <= WIDTH:
            return [first]
    if isinstance(chain.head, Call) and not chain.calls:
        return chain.head.lines(f"{name} = ", indent)
    return [f"{indent}{name} = (", *chain.lines(indent + _STEP), f"{indent})"]


def indented(text: str, indent: str) -> Iterable[str]:
    """Yield the lines of a text, indented; empty lines stay empty."""
    for line in text.split("\n"):
        yield indent + line if line else line
