"""How emitted Python is laid out: method chains, one argument a line where lists grow.

The layout keeps diffs small rather than lines few: what may get another item (a select list,
aggregates, options) stands one item a line from the start, with a trailing comma.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl.records import dataclass

WIDTH = 100
_STEP = "    "


@dataclass(frozen=True, slots=True)
class Call:
    """A method call.

    ``open`` puts each argument on a line of its own. Arguments may hold line breaks.
    """

    name: str
    arguments: tuple[str, ...] = ()
    open: bool = False

    def flat(self) -> str:
        """Return the call on one line."""
        return f"{self.name}({', '.join(self.arguments)})"

    def lines(self, prefix: str, indent: str) -> list[str]:
        """Return the call behind ``prefix``, broken where it is open or too long."""
        flat = f"{indent}{prefix}{self.flat()}"
        if not self.open and "\n" not in flat and len(flat) <= WIDTH:
            return [flat]
        lines = [f"{indent}{prefix}{self.name}("]
        # A lone argument that is no list gets no comma: behind joined strings it would read like
        # a tuple.
        comma = "," if self.open or len(self.arguments) > 1 else ""
        for argument in self.arguments:
            lines.extend(indented(argument + comma, indent + _STEP))
        return [*lines, f"{indent})"]


@dataclass(frozen=True, slots=True)
class Chain:
    """A receiver and the calls on it. The receiver is a name, or a call of its own."""

    head: str | Call
    calls: tuple[Call, ...] = ()

    def lines(self, indent: str) -> list[str]:
        """Return the chain with a call a line.

        The first call stays with a receiver that is a name.
        """
        calls = list(self.calls)
        if isinstance(self.head, Call):
            lines = self.head.lines("", indent)
        elif calls:
            lines = calls.pop(0).lines(f"{self.head}.", indent)
        else:
            lines = [indent + self.head]
        for call in calls:
            lines.extend(call.lines(".", indent))
        return lines

    def text(self) -> str:
        """Return the chain as an argument of another call."""
        return "\n".join(self.lines(""))


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
    """Yield the lines of a text behind an indent; empty lines stay empty."""
    for line in text.split("\n"):
        yield indent + line if line else line
