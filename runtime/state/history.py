"""The barriers of a state folder, from its files, for other processes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...contracts.notes.barrier import Manifest
from ...contracts.notes.generation import Generation
from ..base.errors import NO_SUCH_BARRIER, RuntimeFault
from ..storage.disk import Tree
from ..storage.state_store import opened_state
from .manifests import barrier_of, load_manifest
from .recovery_check import Examination
from .rollback import counts_up_to, same_meaning
from .state import current_generation


@dataclass(frozen=True, slots=True)
class Kept:
    """A barrier with a file; `manifest` is None when that is damaged.

    `problem` is why it is not restorable, None if it is.
    """

    barrier: int
    generation: str
    manifest: Manifest | None
    problem: str | None

    def to_document(self) -> dict[str, Any]:
        """The barrier as JSON."""
        manifest = self.manifest
        document = {"barrier": self.barrier, "generation": self.generation}
        if manifest is not None:
            sums = {
                "state_rows": manifest.state_rows,
                "state_bytes": manifest.state_bytes,
                "rows_in": manifest.rows_in,
                "rows_out": manifest.rows_out,
            }
            document = {**manifest.to_json(), **sums}
        return {**document, "restorable": self.problem is None, "problem": self.problem}


def read_barriers(state: str, conf: Sequence[str] = ()) -> tuple[Kept, ...]:
    """All barriers of a state folder with a file, oldest first.

    The files that a barrier needs are looked up, but not read. `conf` are settings of Spark for the
    store, `KEY=VALUE`. Raises RuntimeFault when the path is not a state folder.
    """
    disk, folder, _ = opened_state(state, conf)
    return _kept(disk, folder)


def _kept(disk: Tree, folder: str) -> tuple[Kept, ...]:
    current = _current(disk, folder)
    found = [
        kept
        for generation in disk.list(f"{folder}/generations")
        if generation.isdigit()
        for kept in _of_generation(disk, folder, generation, current)
    ]
    return tuple(sorted(found, key=lambda kept: (kept.barrier, kept.generation)))


def read_barrier(state: str, barrier: int, conf: Sequence[str] = ()) -> Kept:
    """One barrier; all files that it needs are read to verify it.

    Raises RuntimeFault when it does not exist.
    """
    disk, folder, _ = opened_state(state, conf)
    known = _kept(disk, folder)
    found = [kept for kept in known if kept.barrier == barrier]
    if not found:
        numbers = ", ".join(str(kept.barrier) for kept in known)
        raise RuntimeFault(
            NO_SUCH_BARRIER,
            f"{state} has no barrier {barrier}",
            f"it has {numbers}" if known else "no barrier has been completed yet",
        )
    kept = found[-1]
    if kept.problem is not None or kept.manifest is None:
        return kept
    examined = Examination(disk, f"{folder}/generations/{kept.generation}")
    damage = examined.barrier_damage(kept.manifest)
    if not damage:
        return kept
    problem = f"{damage[0].path}: {damage[0].reason}"
    return Kept(kept.barrier, kept.generation, kept.manifest, problem)


def _current(disk: Tree, folder: str) -> Generation | None:
    with suppress(RuntimeFault):
        return current_generation(disk, folder)
    return None


def _of_generation(
    disk: Tree, folder: str, generation: str, current: Generation | None
) -> Iterator[Kept]:
    place = f"{folder}/generations/{generation}"
    held: frozenset[str] | None = None
    replaced = "no generation is complete"
    alike = False
    if current is not None:
        replaced = f"generation {current.number} has taken its place"
        alike = same_meaning(disk, place, f"{folder}/generations/{current.number}")
    for name in disk.list(f"{place}/barriers"):
        barrier = barrier_of(name)
        text = None if barrier is None else disk.read(f"{place}/barriers/{name}")
        if barrier is None or text is None:
            continue  # Another file, or the job has removed it meanwhile.
        try:
            manifest = load_manifest(text)
        except ValueError as error:
            yield Kept(barrier, generation, None, f"its manifest is damaged: {error}")
            continue
        problem: str | None = replaced
        if current is not None and (
            generation == current.number or (alike and counts_up_to(current, generation, manifest))
        ):
            held = frozenset(disk.tree(place)) if held is None else held
            problem = _missing(held, manifest)
        yield Kept(barrier, generation, manifest, problem)


def _missing(held: Container[str], manifest: Manifest) -> str | None:
    missing = (path for path in manifest.files if path not in held)
    return next((f"{path} is missing" for path in missing), None)
