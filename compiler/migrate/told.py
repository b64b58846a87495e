"""What is said of mistakes in migration files."""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl import codes
from ...dsl.diagnostics import Code, Diagnostic, Diagnostics, Label
from ...dsl.source import Span
from ...dsl.suggest import did_you_mean
from ...dsl.yaml_nodes import Mapping, Node, Scalar, Sequence


class Teller:
    """Adds diagnostics about the nodes of one migration file."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics

    def tell(self, code: Code, message: str, span: Span, help_: str | None = None) -> None:
        """Tell of a mistake at a place."""
        self._diagnostics.add(Diagnostic(code, message, Label(span), help=help_))

    def form(self, message: str, node: Node, help_: str | None = None) -> None:
        """Tell of something that is not of a known form."""
        self.tell(codes.MIGRATION_FORM, message, node.span, help_)

    def unknown_part(self, what: str, name: Scalar, known: Iterable[str]) -> None:
        """Tell of a word that no migration has at this place."""
        self._unknown(codes.MIGRATION_FORM, what, name, known)

    def unknown_name(self, what: str, name: Scalar, known: Iterable[str]) -> None:
        """Tell of a name that is in neither spec."""
        self._unknown(codes.MIGRATION_NAME, what, name, known)

    def _unknown(self, code: Code, what: str, name: Scalar, known: Iterable[str]) -> None:
        known = tuple(known)
        listed = ", ".join(f"`{each}`" for each in known)
        help_ = did_you_mean(name.text, known) or (f"known: {listed}" if known else None)
        self.tell(code, f"`{name.text}` is no {what}", name.span, help_)


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
