"""Diagnostics about mistakes in migration files."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.reports import codes
from ....dsl.yaml.diagnostics import Teller as YamlTeller
from ....dsl.yaml.nodes import Scalar


class Teller(YamlTeller):
    """Adds diagnostics about the nodes of one migration file."""

    FORM = codes.MIGRATION_FORM

    def unknown_part(self, what: str, name: Scalar, known: Iterable[str]) -> None:
        """Report a word that is not allowed at this place in a migration."""
        self.unknown(what, name, known, codes.MIGRATION_FORM)

    def unknown_name(self, what: str, name: Scalar, known: Iterable[str]) -> None:
        """Report a name that is in neither spec."""
        self.unknown(what, name, known, codes.MIGRATION_NAME)
