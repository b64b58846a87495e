"""The retained rows up to a savepoint, and the steps in which they are reread.

Most state is the same however its input was cut into batches. Where ids are forgotten and come
again, or rows are handled as they arrive, it is not: then the batches of the job come again, as far
as sources know them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ....contracts.notes.epoch import Cuts
from ....contracts.plan import Plan, Query, clock_of
from ...base.errors import NOT_REPLAYED, RuntimeFault
from ...connectors.interface import Lack, ReadBefore
from ...connectors.registry import SOURCES
from ...kinds.registry import kind_of
from ...state.checkpoints import Generation
from ...storage.disk import Disk
from ..migrate.state_mapping import Fit

if TYPE_CHECKING:
    from ...storage.file_system import Storage


def check_replayed(plan: Plan, queries: Sequence[Query], cuts: Cuts) -> None:
    """Raises RuntimeFault when the state of queries can't be recomputed from their sources."""
    for query in queries:
        for use in query.operators:
            why = clock_of(plan.operators[use.id])
            if why is not None:
                raise _refused(
                    f"{why} of `{use.id}` depends on the clock, which rereading past rows does "
                    f"not turn back",
                    "accept that it starts empty",
                )
        for name in query.sources:
            connector = plan.sources[name].connector
            replay = SOURCES[connector].replay
            if replay is None:
                raise _refused(
                    f"source `{name}` ({connector}) does not give its rows again",
                    "accept in the migration file that the cells start empty",
                )
            ordered = order_counts(plan, query)
            if ordered is not None and cuts.get(name) is not None and replay.batches is None:
                raise _refused(
                    f"`{ordered}` keeps what depends on the order in which rows came, "
                    f"and source `{name}` ({connector}) does not tell in which batches they did",
                    "accept in the migration file that the cells start empty",
                )


def order_counts(plan: Plan, query: Query) -> str | None:
    """An operator of a query whose state depends on how its input was divided into batches."""
    for use in query.operators:
        operator = plan.operators[use.id]
        if kind_of(operator).depends_on_batches(operator):
            return use.id
    return None


def steps(plan: Plan, queries: Sequence[Query], cuts: Cuts) -> list[Cuts]:
    """The successive cuts that queries read up to; the last are those of the savepoint.

    Sources with fewer batches than others are spread over theirs.
    """
    known = {
        name: replay.batches
        for name in _sources(queries)
        if cuts[name] is not None
        and (replay := SOURCES[plan.sources[name].connector].replay) is not None
        and replay.batches is not None
    }
    stepped = any(order_counts(plan, query) is not None for query in queries)
    counts = {name: batches.batches_at(cuts[name]) for name, batches in known.items()}
    most = max(counts.values(), default=1) if stepped else 1
    found: list[Cuts] = []
    for step in range(1, most + 1):
        reached = {name: -(-count * step // most) for name, count in counts.items()}
        positions = {name: known[name].position_after(n) for name, n in reached.items()}
        found.append({**cuts, **positions})
    return found


def on_this_disk(path: str) -> bool:
    """Whether a file exists; one on another file system is assumed to."""
    return not _is_local(path) or os.path.exists(path.removeprefix("file:"))


def is_there(storage: Storage, path: str) -> bool:
    """Whether a file exists, on any file system."""
    return on_this_disk(path) if _is_local(path) else storage.modified(path) is not None


def _is_local(path: str) -> bool:
    return urlsplit(path).scheme in ("", "file")


def rows_gone(
    disk: Disk, fit: Fit, queries: Sequence[Query], there: Callable[[str], bool]
) -> Iterator[Lack]:
    """What queries may not get of the rows before a savepoint.

    `there` is asked for files with a path or URL, not encoded.
    """
    for name in _sources(queries):
        replay = SOURCES[fit.plan.sources[name].connector].replay
        if replay is not None:
            yield from replay.lacks(read_before(disk, fit, name, there))


def read_before(disk: Disk, fit: Fit, name: str, there: Callable[[str], bool]) -> ReadBefore:
    """A source as the savepoint has it."""
    origin = fit.sources.get(name)
    return ReadBefore(
        name,
        fit.plan.sources[name].options,
        None if origin is None else fit.savepoint.sources.get(origin),
        None if origin is None else Generation.of(fit.savepoint.logs).sources.get(origin),
        fit.folder,
        disk,
        there,
    )


def check_whole(lacks: Iterable[Lack], *, partial: bool) -> tuple[str, ...]:
    """The remarks about missing rows; raises RuntimeFault for any unless `partial`."""
    found = list(lacks)
    if found and not partial:
        helps = dict.fromkeys(one.help for one in found)
        raise _refused(
            "\n     ".join(one.reason for one in found),
            "; ".join([*helps, "`--partial` computes from what there is"]),
        )
    return tuple(one.reason for one in found)


def _sources(queries: Sequence[Query]) -> list[str]:
    """The sources that queries read, each once."""
    return list(dict.fromkeys(name for query in queries for name in query.sources))


def _refused(reason: str, help: str) -> RuntimeFault:
    return RuntimeFault(NOT_REPLAYED, reason, help)
