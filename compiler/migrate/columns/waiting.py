"""Columns of waiting rows, in joins and in programs: each new one from old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....contracts.migration import Made
from ....contracts.plan import Branch, Column
from ....dsl.format import identifier
from ..compared.versions import Versions, column_meaning, never_null
from ..findings.changes import made_part
from ..findings.verdicts import Decision, Finding, Verdict
from ..types.conversions import cast, in_its_type
from ..types.structs import converted, holds_all_by_name


def plan_columns(
    versions: Versions,
    id_: str,
    word: str,
    inputs: tuple[Sequence[Branch], Sequence[Branch]],
    columns: tuple[Sequence[Column], Sequence[Column]],
) -> tuple[list[Finding], list[Made]]:
    """Return the migration of the columns, and the SQL of each new one.

    ``word`` names the side or input; ``inputs`` and ``columns`` are those of both versions.
    """
    return _Columns(versions, id_, word, inputs).plan(*columns)


class _Columns:
    """Columns of waiting rows: each new one from the old ones of the same side."""

    def __init__(
        self,
        versions: Versions,
        id_: str,
        word: str,
        inputs: tuple[Sequence[Branch], Sequence[Branch]],
    ) -> None:
        self._decisions, self._id, self._word = versions.decisions, id_, word
        self._new = versions.new
        self._inputs = inputs
        self._names: set[str] = set()

    def plan(
        self, old: Sequence[Column], new: Sequence[Column]
    ) -> tuple[list[Finding], list[Made]]:
        """Return the findings, and the SQL of each new column."""
        pairs = self._pairs(old, new)
        self._names = {column.name for column in old}
        findings: list[Finding] = []
        made: list[Made] = []
        for column in new:
            finding, expression = self._column(column, pairs.get(column.name))
            findings.append(finding)
            made.append(made_part(column.name, expression))
        told = {finding.old for finding in findings}
        for column in old:
            if column.name not in told:
                other = any(column.name == one.name for one in new)
                why = "it is computed in another way" if other else "nothing reads it any more"
                findings.append(Finding(self._part, column.name, None, Verdict.DROPPED, why))
        return findings, made

    @property
    def _part(self) -> str:
        return f"column {self._word}".rstrip()

    def _pairs(self, old: Sequence[Column], new: Sequence[Column]) -> Mapping[str, Column]:
        pairs: dict[str, Column] = {}
        for by_name in (True, False):
            for column in new:
                taken = {pair.name for pair in pairs.values()}
                for other in old:
                    alike = self._sense(0, other.name) == self._sense(1, column.name)
                    named = other.name == column.name
                    if alike and other.name not in taken and (named or not by_name):
                        pairs.setdefault(column.name, other)
        return pairs

    def _sense(self, version: int, name: str) -> tuple[str, ...]:
        return column_meaning(self._inputs[version], name)

    def _column(self, column: Column, old: Column | None) -> tuple[Finding, str]:
        name = f"{self._word}.{column.name}"
        path = ("operators", self._id, "set", name)
        decided = self._decisions.get(*path)
        was = None if old is None else old.name
        if decided is not None:
            why = f"as decided: {decided}"
            return Finding(self._part, was, column.name, Verdict.CONVERTED, why), decided
        if old is None:
            return self._lacking(column, path, name)
        source = in_its_type(identifier(old.name), old.type)
        if old.type == column.type:
            why = f"it was called `{was}`" if was != column.name else ""
            return Finding(self._part, was, column.name, Verdict.KEPT, why), source
        made = converted(source, old.type, column.type)
        if holds_all_by_name(old.type, column.type):
            why = f"{old.type} to {column.type}, exactly"
            return Finding(self._part, was, column.name, Verdict.CONVERTED, why), made
        why = f"{column.type} does not hold all of {old.type}"
        finding = Finding(
            *(self._part, was, column.name, Verdict.CONVERTED, why, "say how, by `set`"),
            open=Decision(path, made),
        )
        return finding, made

    def _lacking(self, column: Column, path: tuple[str, ...], name: str) -> tuple[Finding, str]:
        draft, why = cast("NULL", column.type), "rows that wait lack it"
        if column.name in self._names:
            was, now = (" or ".join(self._sense(v, column.name)) for v in (0, 1))
            draft, why = identifier(column.name), f"it was `{was}` and is `{now}`"
        elif never_null(self._new, self._inputs[1], self._sense(1, column.name)):
            why += ", and it is NOT NULL"
        finding = Finding(
            *(self._part, None, column.name, Verdict.CONVERTED, why),
            f"say what they get: `set: {{{name}: …}}`",
            marked=True,
            open=Decision(path, draft),
        )
        return finding, draft
