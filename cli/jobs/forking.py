"""Two versions that continue from one savepoint over the same recorded rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...compiler.spec_tests.forks import SinkFork, compare_sinks, key_columns, sink_columns
from ...runtime.stepping.runs import step_run, step_spark
from ...runtime.stepping.savepoints import HandedOn
from ..shared.output import write_if_changed
from ..shared.report import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from ...compiler.spec_tests.upgrades import Version
    from ...contracts.migration import Migration
    from ...contracts.savepoint import Savepoint


@dataclass(frozen=True, slots=True)
class Branch:
    """A version, and its migration from the savepoint in the runtime's form."""

    version: Version
    migration: Migration
    variables: Mapping[str, str]
    profile: str | None

    @property
    def sinks(self) -> dict[str, str]:
        """Its sinks by their names in the savepoint; a new one by its own name."""
        return {one.old or name: name for name, one in self.migration.sinks.items()}

    def given(self, name: str) -> str:
        """The name of a source in the savepoint; a table keeps its own."""
        found = self.migration.sources.get(name)
        return (found and found.old) or name


@dataclass(frozen=True, slots=True)
class Recording:
    """Rows by source, one text per step, and the content of tables."""

    steps: Sequence[Mapping[str, str]]
    tables: Mapping[str, str]


def read_recording(folder: Path, branches: Sequence[Branch]) -> Recording:
    """Read a folder with one subfolder per source; its n-th file by name is step n.

    All files of a table together are its content. A folder that belongs to neither version, and
    a source that has none, raise ``UserError``.
    """
    if not folder.is_dir():
        raise UserError(f"folder {folder} does not exist", "it must have a folder for each source")
    sources = {b.given(name) for b in branches for name in b.version.plan.sources}
    tables = {name for b in branches for name in b.version.plan.tables}
    there = {path.name for path in folder.iterdir() if path.is_dir()}
    if odd := sorted(there - sources - tables):
        known = ", ".join(sorted(sources | tables))
        raise UserError(f"{folder / odd[0]} does not match any source or table", f"known: {known}")
    if lacking := sorted((sources | tables) - there):
        raise UserError(
            f"{folder} has no folder for `{lacking[0]}`",
            f"put its rows into files in {folder / lacking[0]}; an empty folder means no rows",
        )
    texts = {name: _texts(folder / name) for name in sources | tables}
    most = max((len(texts[name]) for name in sources), default=0)
    steps = [
        {name: texts[name][step] for name in sorted(sources) if step < len(texts[name])}
        for step in range(most)
    ]
    return Recording(steps, {name: "".join(texts[name]) for name in sorted(tables)})


def _texts(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                help_ = "recorded rows are lines of text: as the source reads them, or JSON"
                raise UserError(f"{path} is not UTF-8", help_) from None
            found.append(text if text.endswith("\n") or not text else f"{text}\n")
    return found


def fork(
    savepoint: Savepoint,
    folder: str,
    branches: tuple[Branch, Branch],
    recording: Recording,
    tell: Callable[[str], None] = lambda line: None,
    *,
    spark: SparkSession | None = None,
) -> Iterator[SinkFork]:
    """Run both versions over a recording, and yield the differences sink by sink.

    Nothing of the user's is written. They run on ``spark``, or on one started for them. Raises
    ``RuntimeFault`` when a version can't continue.
    """
    # A Spark that keeps running may still be writing a store of a query that has ended.
    with TemporaryDirectory(prefix="streamc-fork-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        with step_spark(root / "spark", spark) as base:
            got = []
            for label, branch in zip("ab", branches, strict=True):
                tell(f"{label}: {branch.version.spec}, {len(recording.steps)} steps")
                with _begun(savepoint, folder, branch, recording, root / label, base) as run:
                    for step in recording.steps:
                        run.feed({n: step.get(branch.given(n), "") for n in _sources(branch)})
                    run.drain()
                    got.append({name: run.take(name) for name in branch.version.plan.sinks})
    a, b = branches
    for old, ours in a.sinks.items():
        theirs = b.sinks.get(old)
        if theirs is None:
            continue
        yield compare_sinks(
            ours,
            (sink_columns(a.version.pipeline, ours), sink_columns(b.version.pipeline, theirs)),
            key_columns(b.version.plan, theirs),
            (got[0][ours], got[1][theirs]),
        )


def _sources(branch: Branch) -> Sequence[str]:
    return list(branch.version.plan.sources)


@contextmanager
def _begun(
    savepoint: Savepoint,
    folder: str,
    branch: Branch,
    recording: Recording,
    root: Path,
    spark: SparkSession,
) -> Iterator[Any]:
    files = branch.version.files
    write_if_changed({root / "build" / name: text for name, text in files.items()})
    with step_run(
        root / "build" / next(iter(files)),
        root / "run",
        spark,
        variables=branch.variables,
        profile=branch.profile,
        folders=(str(branch.version.spec.resolve().parent),),
    ) as run:
        run.begin(HandedOn(savepoint, folder, {}, recording.tables), branch.migration)
        yield run
