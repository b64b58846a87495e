"""An upgrade in a test: the other version of the spec, and the migration of its state."""

from __future__ import annotations

from collections.abc import Mapping as Names
from pathlib import Path
from typing import Protocol

from ...contracts.migration import Migration
from ...contracts.plan import Plan
from ...contracts.records import dataclass
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostics
from ...dsl.yaml.diagnostics import described
from ...dsl.yaml.nodes import Mapping, Node, Scalar
from ..migrate.files.read import read_migration, tell_unused
from ..migrate.findings.decisions import Decisions
from ..migrate.findings.verdicts import MigrationPlan, Verdict
from ..migrate.plan import plan_migration
from ..migrate.results.document import document
from ..model.pipeline import Pipeline
from .diagnostics import Teller

_KEYS = ("spec", "migration")


@dataclass(frozen=True, slots=True)
class Version:
    """A fully compiled spec: its model, its plan, its files by name, script first."""

    spec: Path
    pipeline: Pipeline
    plan: Plan
    files: Names[str, str]


class Neighbours(Protocol):
    """The files next to a test file; paths are relative to it."""

    def version(self, path: Scalar) -> Version | None:
        """Return the compiled spec at a path; None, with a diagnostic, without a valid one."""

    def migration(self, path: Scalar | Path) -> Diagnostics | None:
        """Return a migration file; None, with a diagnostic, if a named one is missing."""


class UpgradeReader:
    """Reads the ``upgrade`` steps of one file of tests."""

    def __init__(self, neighbours: Neighbours, teller: Teller) -> None:
        self._neighbours = neighbours
        self._teller = teller

    def read(self, node: Node, old: Version) -> tuple[Version, Migration | None] | None:
        """Return the version that continues, and its migration: None, and reported, if it has none.

        The rest of the test is about that version, even if it cannot continue.
        """
        spec, migration = self._parts(node)
        new = None if spec is None else self._neighbours.version(spec)
        if spec is None or new is None:
            return None
        if new.plan.pipeline != old.plan.pipeline:
            self._teller.tell(
                codes.TEST_UPGRADE,
                f"{spec.text} is of pipeline `{new.plan.pipeline}`, the test of "
                f"`{old.plan.pipeline}`",
                spec.span,
                "give both the same pipeline name in the front matter if they are one pipeline",
            )
            return None
        plan = self._planned(old, new, migration)
        complete = plan is not None and self._is_complete(plan, spec)
        return new, document(plan) if plan is not None and complete else None

    def _parts(self, node: Node) -> tuple[Scalar | None, Scalar | None]:
        """Return the paths of the spec and of the migration."""
        if isinstance(node, Scalar) and node.kind == "text":
            return node, None
        if not isinstance(node, Mapping):
            help_ = "write `upgrade: ../card_fraud_v3.stream`"
            self._teller.form(f"`upgrade` is {described(node)}, not a path", node, help_)
            return None, None
        found: dict[str, Scalar] = {}
        for key, value in node:
            if key.text not in _KEYS:
                self._teller.unknown("part of an upgrade", key, _KEYS, codes.TEST_FORM)
            elif isinstance(value, Scalar) and value.kind == "text":
                found[key.text] = value
            else:
                self._teller.form(f"`{key.text}` is {described(value)}, not a path", value)
        if "spec" not in found and node.get("spec") is None:
            self._teller.form("the upgrade has no `spec`", node, "write `spec: ../new.stream`")
        return found.get("spec"), found.get("migration")

    def _planned(
        self, old: Version, new: Version, migration: Scalar | None
    ) -> MigrationPlan | None:
        name = f"{old.plan.version}-to-{new.plan.version}.yaml"
        diagnostics = self._neighbours.migration(
            new.spec.parent / "migrations" / name if migration is None else migration
        )
        if diagnostics is None:
            return None if migration is not None else plan_migration(old.plan, new.plan)
        decisions: Decisions = read_migration(old.plan, new.plan, diagnostics)
        plan = plan_migration(old.plan, new.plan, decisions)
        if not diagnostics.has_errors:
            tell_unused(decisions, diagnostics)
        return None if diagnostics.has_errors else plan

    def _is_complete(self, plan: MigrationPlan, spec: Scalar) -> bool:
        """Report the first part that is impossible or undecided."""
        if plan.exit_code == 0:
            return True
        lost = plan.exit_code > 1
        outcome, finding = next(
            (outcome, finding)
            for outcome in plan.outcomes()
            for finding in outcome.findings
            if (finding.verdict is Verdict.IMPOSSIBLE if lost else finding.open is not None)
        )
        part = f"{finding.name} of `{outcome.id}`"
        what = "can't be carried over" if lost else "wants a decision"
        self._teller.tell(
            codes.TEST_UPGRADE,
            f"{part} {what}",
            spec.span,
            "`streamc savepoint plan` with both specs tells what becomes of each part; decide it "
            f"in migrations/{plan.from_version}-to-{plan.to_version}.yaml beside the new spec",
        )
        return False
