"""``streamc savepoint plan --savepoint``: a dry run of a plan on a savepoint, and its findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..shared.report import UserError, faults

if TYPE_CHECKING:
    from ...compiler.migrate.findings.verdicts import MigrationPlan
    from ...contracts.migration import Migration
    from ...contracts.outputs.review import ReviewedSavepoint
    from ...contracts.plan import Plan
    from ...contracts.savepoint import Savepoint
    from ...runtime.savepoints.inspect.preview import Preview


def saved_in(named: str, state: str | None) -> Saved:
    """Return a savepoint by its name in a state, or by its folder."""
    from ...runtime.savepoints.format.model import load_savepoint, savepoint_folder
    from ...runtime.savepoints.process import savepoint_of
    from ...runtime.storage.local_files import LocalFiles

    if "/" not in named and state is None:
        raise UserError(
            f"`{named}` is the name of a savepoint, but no state is given",
            "pass the state, `--state DIR`, or the folder of the savepoint",
        )
    with faults():
        if "/" in named:
            folder = os.path.abspath(savepoint_folder("", named))
            return Saved(load_savepoint(LocalFiles(), folder), folder)
        assert state is not None
        return Saved(*savepoint_of(state, named))


class Saved:
    """A savepoint and its folder."""

    def __init__(self, savepoint: Savepoint, folder: str) -> None:
        self._savepoint = savepoint
        self._folder = os.path.abspath(folder)

    @property
    def pipeline(self) -> str:
        """The pipeline that it is of."""
        return self._savepoint.pipeline

    @property
    def name(self) -> str:
        """Its name."""
        return self._savepoint.name

    def sizes(self) -> ReviewedSavepoint:
        """Return how much each operator keeps, according to the manifest."""
        saved = self._savepoint
        return {
            "name": saved.name,
            "version": saved.version,
            "barrier": saved.barrier,
            "rows": saved.rows,
            "bytes": saved.bytes,
            "operators": [
                {
                    "id": one.id,
                    "rows": sum(kept.rows for kept in saved.kept(one.id)),
                    "bytes": sum(kept.bytes for kept in saved.kept(one.id)),
                }
                for one in saved.operators
            ],
        }

    def of_plan(self, plans: Sequence[Plan]) -> Plan:
        """Return the plan that it was taken from; if OLD is given, it must be that one.

        ``plans`` are those of OLD, where it is given, and NEW.
        """
        from ...runtime.savepoints.migrate.state_mapping import check_pipeline, differences

        *olds, new = plans
        with faults():
            check_pipeline(self._savepoint, new)
        for old in olds:
            lines = list(differences(self._savepoint, old))
            if lines or old.version != self._savepoint.version:
                told = "".join(f"\n  {line}" for line in lines)
                raise UserError(
                    f"savepoint {self._savepoint.name} is of version {self._savepoint.version}, "
                    f"not of the given OLD, version {old.version}{told}",
                    "omit OLD: the savepoint has its plan",
                )
        return self._savepoint.plan

    def tried(self, new: Plan, found: MigrationPlan) -> Tried:
        """Return what a migration does to its rows."""
        from ...runtime.savepoints.migrate.state_mapping import fitted
        from ...runtime.savepoints.process import preview_savepoint

        with faults():
            migration = _possible(found)
            fit = fitted(self._savepoint, self._folder, new, migration)
            return Tried(self._savepoint, preview_savepoint(fit, tell=_tell))


class Tried:
    """What a plan does to a savepoint."""

    def __init__(self, savepoint: Savepoint, preview: Preview) -> None:
        self._savepoint, self._preview = savepoint, preview

    @property
    def fails(self) -> bool:
        """Whether the savepoint can't be restored by this plan."""
        return self._preview.fails

    def document(self) -> dict[str, Any]:
        """Return all of it for programs that read it."""
        saved = self._savepoint
        return {
            "name": saved.name,
            "pipeline": saved.pipeline,
            "version": saved.version,
            "barrier": saved.barrier,
            "watermark_ms": saved.watermark_ms,
            "rows": saved.rows,
            "bytes": saved.bytes,
            "operators": [one.to_document() for one in self._preview.operators],
        }

    def text(self) -> str:
        """Return a paragraph for each operator."""
        from .preview_text import preview_text

        return preview_text(self._savepoint, self._preview)


def _possible(found: MigrationPlan) -> Migration:
    """Return the document of a plan without operators that have an impossible part."""
    from ...compiler.migrate.findings.verdicts import Verdict
    from ...compiler.migrate.results.document import document

    lost = {
        outcome.id
        for outcome in found.operators
        if any(finding.verdict is Verdict.IMPOSSIBLE for finding in outcome.findings)
    }
    told = document(found)
    operators = {id_: one for id_, one in told.operators.items() if id_ not in lost}
    return replace(told, operators=operators)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
