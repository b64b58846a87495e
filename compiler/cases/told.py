"""What is said of mistakes in tests, and of names that are not known."""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl import codes
from ...dsl.diagnostics import Code, Diagnostic, Diagnostics, Label
from ...dsl.source import Span
from ...dsl.suggest import did_you_mean
from ...dsl.yaml_nodes import Mapping, Node, Scalar, Sequence
from .values import Misfit


class Teller:
    """Adds diagnostics about the nodes of one file of tests."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics

    @property
    def told(self) -> int:
        """How many mistakes have been told."""
        return len(self._diagnostics)

    def tell(self, code: Code, message: str, span: Span, help_: str | None = None) -> None:
        self._diagnostics.add(Diagnostic(code, message, Label(span), help=help_))

    def form(self, message: str, node: Node, help_: str | None = None) -> None:
        """Tell of something that is not of a known form."""
        self.tell(codes.TEST_FORM, message, node.span, help_)

    def unknown(self, what: str, name: Scalar, known: Iterable[str], code: Code) -> None:
        """Tell of a name that is none of the known ones."""
        known = tuple(known)
        listed = ", ".join(f"`{each}`" for each in known)
        help_ = did_you_mean(name.text, known) or (f"known: {listed}" if known else None)
        self.tell(code, f"`{name.text}` is no {what}", name.span, help_)

    def misfit(self, column: str, error: Misfit) -> None:
        """Tell of a value that does not fit its column."""
        found = described(error.node)
        message = f"`{column}` is {found}, not {error.wanted}"
        self.tell(codes.TEST_VALUE, message, error.node.span)


def described(node: Node) -> str:
    """Return a node as a person calls it."""
    match node:
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar(kind="null"):
            return "empty"
    return f"`{node.text}`"
