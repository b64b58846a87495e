"""What a run does to its state before it starts: check it, repair it, or fall back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..base.errors import STATE_DAMAGED, RuntimeFault
from ..storage.disk import Disk
from ..storage.schema_paths import mend_schema_paths
from .integrity import Damage, Inventory
from .recovery_check import Examination, Verdict
from .rollback import clone
from .state import State, disk_of

_SHOWN = 3


def recover(state: State, tell: Callable[[str], None]) -> Inventory:
    """Leaves the state at a generation that can be continued, and reports what was necessary.

    Raises RuntimeFault when it does not exist. The inventory knows the files that were read.
    """
    disk, folder = disk_of(state)
    number = state.generation
    examined = Examination(disk, f"{folder}/generations/{number}")
    verdict = examined.verdict()
    shown = f"{state.shown}/generations/{number}"
    for note in verdict.notes:
        tell(f"{shown}/{note.path} cannot be used: {note.reason}; the job continues without it")
    if verdict.damage:
        _fall_back(disk, state, folder, examined, verdict, tell)
        examined = Examination(disk, f"{folder}/generations/{state.generation}")
        verdict = examined.verdict()
        if verdict.damage:
            raise refusal(state.shown, state.generation, verdict.damage)
    for mend in verdict.mends:
        path = f"{examined.folder}/{mend.path}"
        if mend.text is None:
            disk.delete([path])
        else:
            disk.replace(path, mend.text)
            tell(f"{shown}/{mend.path} is rewritten: {mend.reason}")
    mend_schema_paths(disk, examined.folder, examined.files)
    last = max(examined.epochs.last, 0)
    return Inventory(disk, examined.folder, examined.sums.held, examined.manifests, last)


def _fall_back(
    disk: Disk,
    state: State,
    folder: str,
    examined: Examination,
    verdict: Verdict,
    tell: Callable[[str], None],
) -> None:
    """Creates a generation from the newest intact barrier."""
    manifest = verdict.barrier
    if manifest is None:
        raise refusal(state.shown, state.generation, verdict.damage)
    epochs = examined.epochs.last - manifest.epoch
    number = clone(disk, folder, state.note, examined, manifest, same_cuts=True)
    for line in damage_lines(f"{state.shown}/generations/{state.generation}", verdict.damage):
        tell(f"DAMAGE: {line}")
    when = f"{manifest.completed_at:%Y-%m-%d %H:%M:%S}"
    tell(
        f"FALLBACK to barrier {manifest.barrier} of {when} UTC, epoch {manifest.epoch}: "
        f"{epochs} epoch{'' if epochs == 1 else 's'} after it run again, as generation {number}"
    )
    state.refresh()


def refusal(shown: str, generation: str, damage: Sequence[Damage]) -> RuntimeFault:
    """The fault for a state without a restorable barrier."""
    first, *rest = damage_lines(f"{shown}/generations/{generation}", damage)
    return RuntimeFault(
        STATE_DAMAGED,
        "\n     ".join([f"{first}, and no earlier barrier is intact", *rest]),
        "restore the file from a backup, or start over with another `--state` and other outputs",
    )


def damage_lines(folder: str, damage: Sequence[Damage]) -> list[str]:
    """The first few damaged files, and what is wrong with them."""
    lines = [f"{folder}/{one.path}: {one.reason}" for one in damage[:_SHOWN]]
    if len(damage) > _SHOWN:
        lines.append(f"and {len(damage) - _SHOWN} more")
    return lines
