"""Diagnostics about the YAML files next to a spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ..reports.diagnostics import Code, Diagnostic, Diagnostics, Label
from ..reports.source import Span
from ..reports.suggest import did_you_mean
from .nodes import Mapping, Node, Scalar, Sequence


class Teller:
    """Adds diagnostics about the nodes of one file; ``FORM`` is the code for an unknown form."""

    FORM: ClassVar[Code]

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics

    @property
    def told(self) -> int:
        """How many mistakes have been reported."""
        return len(self._diagnostics)

    def tell(self, code: Code, message: str, span: Span, help_: str | None = None) -> None:
        """Report a mistake at a node."""
        self._diagnostics.add(Diagnostic(code, message, Label(span), help=help_))

    def form(self, message: str, node: Node, help_: str | None = None) -> None:
        """Report something without a known form."""
        self.tell(self.FORM, message, node.span, help_)

    def unknown(self, what: str, name: Scalar, known: Iterable[str], code: Code) -> None:
        """Report an unknown name."""
        known = tuple(known)
        listed = ", ".join(f"`{each}`" for each in known)
        help_ = did_you_mean(name.text, known) or (f"known: {listed}" if known else None)
        article = "an" if what[0] in "aeiou" else "a"
        self.tell(code, f"`{name.text}` is not {article} {what}", name.span, help_)


def described(node: Node) -> str:
    """Return a node in words."""
    match node:
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar(kind="null"):
            return "empty"
    return f"`{node.text}`"
