"""The names in a declared function or aggregate: its parameters or accumulators."""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model.schema import Schema
from ...model.typed import Typed
from .scope import BlockScope, Visible


class PartScope(BlockScope):
    """A scope of ``parts`` (parameters, accumulators) of ``owner``, in words.

    A name may be qualified by the function's, as in the standard. ``elsewhere`` are names that a
    user may mistake for parts, each with a replacement.
    """

    def __init__(
        self,
        part: str,
        owner: str,
        parts: Schema,
        name: Name,
        diagnostics: Diagnostics,
        elsewhere: dict[str, str] | None = None,
    ) -> None:
        super().__init__((Visible(name.text, parts, name.span),), diagnostics)
        self._part = part
        self._owner = owner
        self._parts = parts
        self._reports = diagnostics
        self._elsewhere = elsewhere or {}

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a reference; None after a report."""
        name = ref.parts[0]
        if len(ref.parts) > 1 and name.text.lower() == self.relations[0].alias.lower():
            name = ref.parts[1]
        if self._parts.find(name.text) is None:
            self._reports.add(self._unknown(name))
            return None
        return super().column(ref)

    def _unknown(self, name: Name) -> Diagnostic:
        known = self._parts.names()
        near = closest(name.text, known)
        listed = ", ".join(known) or "none"
        fix = f"did you mean `{near[0]}`?" if near else f"its {self._part}s are: {listed}"
        return Diagnostic(
            codes.UNKNOWN_PARAMETER,
            f"there is no {self._part} `{name}` in {self._owner}",
            Label(name.span),
            help=self._elsewhere.get(name.text.lower(), fix),
        )
