"""Diagnostics about mistakes in tests, and about unknown names."""

from __future__ import annotations

from ...dsl.reports import codes
from ...dsl.yaml.diagnostics import Teller as YamlTeller
from ...dsl.yaml.diagnostics import described
from .values import Misfit


class Teller(YamlTeller):
    """Adds diagnostics about the nodes of one test file."""

    FORM = codes.TEST_FORM

    def misfit(self, column: str, error: Misfit) -> None:
        """Report a value that does not fit its column."""
        found = described(error.node)
        message = f"`{column}` is {found}, not {error.wanted}"
        self.tell(codes.TEST_VALUE, message, error.node.span)
