"""What differs between two versions of a spec, as ``contracts.outputs.review``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ...contracts.outputs.review import (
    CodeChange,
    Review,
    ReviewedChange,
    ReviewedMigration,
    ReviewedSavepoint,
    ReviewedSpec,
)
from ..savepoints.plan import planned
from ..shared.report import remember_secrets
from ..shared.spec_files import read_spec
from ..specs.changes import changed_parts, code_change, planned_parts
from .find import Pair

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...compiler.migrate.findings.verdicts import MigrationPlan
    from ...compiler.plan.compare import PlanChanges
    from ...contracts.plan import Plan
    from ...dsl.reports.diagnostics import Diagnostics
    from ...dsl.reports.source import SourceFile
    from ..savepoints.dry_run import Saved
    from .base import Base

_Exit = Literal[0, 1, 2]
_NOWHERE = "/dev/null"


def reviewed(base: Base, revision: str, pairs: list[Pair], saved: Saved | None) -> Review:
    """Return the review of all specs; ``saved`` gives the sizes of its own pipeline.

    Raises ``UserError`` if the savepoint is not of the version at the revision.
    """
    specs = [_spec(base, revision, pair, saved) for pair in pairs]
    # Of a spec with the same text only its modules may differ, which the plan says.
    specs = [
        one
        for one, pair in zip(specs, pairs, strict=True)
        if one["exit_code"] or not pair.same_text
    ]
    return {
        "format": 1,
        "kind": "review",
        "base": revision,
        "exit_code": _worst(*(spec["exit_code"] for spec in specs)),
        "specs": specs,
    }


def _spec(base: Base, revision: str, pair: Pair, saved: Saved | None) -> ReviewedSpec:
    old, new = _plan(pair.old), _plan(pair.new)
    said = [] if pair.new is None else [pair.new.diagnostics]
    migration: ReviewedMigration | None = None
    changes: list[ReviewedChange] = []
    if old is not None and new is not None and old.pipeline == new.pipeline and old != new:
        migration, changes = _compared(base, pair, old, new, said)
    elif new is not None or pair.new is None:
        changes = _changes(_only(old, new))
    remember_secrets([*said, *([] if pair.old is None else [pair.old.diagnostics])])
    from ...dsl.reports.render import objects

    code = _code(revision, pair)
    broken = any(found.has_errors for found in said)
    differs = code is not None or old != new or pair.new is None
    shown = new or old
    return {
        "file": pair.file,
        "change": _kind(pair),
        "old_file": pair.old_file,
        "pipeline": None if shown is None else shown.pipeline,
        "old_pipeline": None if old is None else old.pipeline,
        "from_version": None if old is None else old.version,
        "to_version": None if new is None else new.version,
        "exit_code": 2 if broken else 1 if differs else 0,
        "diagnostics": objects(said),
        "old_errors": 0 if pair.old is None else _errors(pair.old.diagnostics),
        "code": code,
        "changes": changes,
        "migration": migration,
        "savepoint": _sizes(saved, old, new),
    }


def _kind(pair: Pair) -> Literal["added", "changed", "moved", "removed"]:
    if pair.new is None:
        return "removed"
    if pair.old is None or pair.continues:
        return "added"
    return "changed" if pair.file == pair.old_file else "moved"


def _plan(result: CompileResult | None) -> Plan | None:
    return None if result is None or result.diagnostics.has_errors else result.plan


def _errors(found: Diagnostics) -> int:
    from ...dsl.reports.diagnostics import Severity

    return sum(one.code.severity is Severity.ERROR for one in found)


def _worst(*codes: _Exit) -> _Exit:
    return max(codes, default=0)


def _code(revision: str, pair: Pair) -> CodeChange | None:
    """Return how the script differs; None if it does not, or if a version has errors."""
    versions = (pair.old, pair.new)
    if any(one is not None and one.script is None for one in versions):
        return None
    old, new = ("" if one is None or one.script is None else one.script for one in versions)
    return code_change(
        old,
        new,
        _NOWHERE if pair.old is None else f"{revision}:{pair.old_file}",
        _NOWHERE if pair.new is None else pair.file,
    )


def _compared(
    base: Base, pair: Pair, old: Plan, new: Plan, said: list[Diagnostics]
) -> tuple[ReviewedMigration, list[ReviewedChange]]:
    """Return the verdicts with the decisions of the file next to the spec, and the changes."""
    from ...compiler.migrate.results.differences import with_meaning
    from ...compiler.migrate.results.draft import draft
    from ...compiler.plan.compare import compare_plans

    file = _migration_file(base, pair, old, new)
    found, decisions = planned(old, new, file, said)
    migration: ReviewedMigration = {
        "exit_code": _exit(found),
        "file": None if file is None else file.name,
        "parts": planned_parts(found),
        "draft": draft(found, decisions) if found.exit_code else None,
    }
    return migration, _changes(with_meaning(compare_plans(old, new), found))


def _exit(found: MigrationPlan) -> _Exit:
    return 2 if found.exit_code == 2 else 1 if found.exit_code else 0


def _migration_file(base: Base, pair: Pair, old: Plan, new: Plan) -> SourceFile | None:
    """Return the file that tests of the spec find, too: `migrations/1-to-2.yaml` next to it."""
    name = f"{old.version}-to-{new.version}.yaml"
    path = (base.root / pair.file).parent / "migrations" / name
    return read_spec(path, path.relative_to(base.root).as_posix()) if path.exists() else None


def _only(old: Plan | None, new: Plan | None) -> PlanChanges | None:
    """Return the changes where there is one version: all of it is added, or removed."""
    from dataclasses import replace

    from ...compiler.plan.compare import compare_plans

    one = new or old
    if one is None or (new is not None and old is not None and old.pipeline == new.pipeline):
        return None
    nothing = replace(one, operators={}, sources={}, sinks={}, queries={}, tables={}, functions={})
    return compare_plans(nothing, one) if new is not None else compare_plans(one, nothing)


def _changes(found: PlanChanges | None) -> list[ReviewedChange]:
    return [] if found is None else list(changed_parts(found))


def _sizes(saved: Saved | None, old: Plan | None, new: Plan | None) -> ReviewedSavepoint | None:
    """Return the sizes of a savepoint of this pipeline; it must be of the old version."""
    if saved is None or old is None or old.pipeline != saved.pipeline:
        return None
    saved.of_plan([old, new if new is not None and new.pipeline == old.pipeline else old])
    return saved.sizes()
