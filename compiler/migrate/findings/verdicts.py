"""The migration of each part of a pipeline's state, and the decisions that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import TypeAlias

from ....contracts.migration import OperatorChange
from ....contracts.outputs.migration_plan import Group
from ....contracts.records import dataclass

Path: TypeAlias = tuple[str, ...]
"""The place of something in a migration file."""


FOUND_BY_THAT = "it is found by that"
"""Why a part is lost with its key or window."""


class Verdict(StrEnum):
    """The verdict on a part."""

    KEPT = "kept"
    CONVERTED = "converted"
    MERGED = "merged"
    DERIVED = "derived"
    BACKFILL = "backfill"
    EMPTY = "starts empty"
    DROPPED = "dropped"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Decision:
    """A missing decision: its place in the file, the draft's proposal, the alternatives.

    ``value`` is a word of ``choices``, or an expression where there are none.
    """

    path: Path
    value: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one part, with its name in both versions, None where it does not exist.

    ``marked`` says that results are inexact for some time after the cut, and ``why`` says how.
    ``fix`` is what can be done about it. ``open`` is a missing decision.
    """

    part: str
    old: str | None
    new: str | None
    verdict: Verdict
    why: str = ""
    fix: str | None = None
    marked: bool = False
    open: Decision | None = None

    @property
    def name(self) -> str:
        """The part with its name, the new one where it has one."""
        return f"{self.part} {self.new if self.new is not None else self.old or ''}".rstrip()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for an operator, source, sink, or the settings: all findings on its parts.

    ``old`` is None where it has no counterpart in the old version, ``new`` where it has none in the
    new. ``change`` is what the runtime does to obtain the state of the operator ``new``;
    ``sooner_micros`` is how far the watermark of the source ``new`` moves ahead.
    """

    group: Group
    old: str | None
    new: str | None
    kind: str
    findings: tuple[Finding, ...]
    change: OperatorChange | None = None
    sooner_micros: int = 0

    @property
    def id(self) -> str:
        """Its name, the new one where it has one."""
        return self.new if self.new is not None else str(self.old)

    @property
    def is_untouched(self) -> bool:
        """Whether all of it is unchanged and there is nothing to report."""
        return self.old == self.new and all(
            finding.verdict is Verdict.KEPT and not finding.why for finding in self.findings
        )


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The migration of a pipeline's whole state between two versions.

    ``with_decisions`` replans the same versions with the decisions of a file.
    """

    pipeline: str
    from_version: int
    to_version: int
    operators: tuple[Outcome, ...]
    sources: tuple[Outcome, ...]
    sinks: tuple[Outcome, ...]
    queries: tuple[Outcome, ...]
    with_decisions: Callable[[Mapping[Path, str]], MigrationPlan]

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return all outcomes in the order in which they are reported."""
        return (*self.operators, *self.sources, *self.sinks, *self.queries)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings on all parts."""
        for outcome in self.outcomes():
            yield from outcome.findings

    @property
    def exit_code(self) -> int:
        """0: all is accounted for; 1: something has to be decided; 2: something is impossible."""
        if any(finding.verdict is Verdict.IMPOSSIBLE for finding in self.findings()):
            return 2
        return int(any(finding.open is not None for finding in self.findings()))
