"""A start on the state of another version of the spec: what it reports, and what it refuses.

The refusal has the commands that carry the state over. They repeat the user's arguments for this
run, so that they can be pasted.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...contracts.notes.run_plan import RunPlan
from ...contracts.plan import Plan
from ...contracts.secrets import written_secret
from ..base.errors import STATE_OF_OTHER_PLAN, RuntimeFault
from ..plan.arguments import Arguments
from ..plan.settings import RunSettings
from ..savepoints.format.model import FOLDER, new_name
from ..state.manifests import barrier_of
from ..state.state import State, current_generation
from ..storage.local_files import LocalFiles, local_state
from ..storage.notes import read_note_as


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between the version that began a state and the one that continues it.

    With `refused` changes the state would be misread. `told` changes keep its meaning, but select
    its rows differently.
    """

    refused: Sequence[str] = ()
    told: Sequence[str] = ()


Compare = Callable[[Plan, Plan], Changes]
"""Compares two plans; the compiler provides it, and a script runs without one."""

_ELSE = "or run the version that began it, or start over with another `--state` and other outputs"


def check_changes(
    state: State, plan: Plan, compare: Compare | None, tell: Callable[[str], None]
) -> None:
    """Raises RuntimeFault when a state with rows would be misread.

    Other changes below its operators are reported, once: the next start finds this plan.
    """
    if compare is None:
        return
    if not any(state.storage.list(f"{state.checkpoint(q)}/offsets") for q in plan.queries):
        return
    try:
        known = read_note_as(state.storage, state.plan_file, RunPlan.from_json)
    except RuntimeFault:
        # This start rewrites it.
        return
    if known is None or known.plan == plan:
        return
    found = compare(known.plan, plan)
    if found.refused:
        raise RuntimeFault(
            STATE_OF_OTHER_PLAN,
            "the state is of another version of the spec\n"
            + "\n".join(f"     {line}" for line in found.refused),
            _ELSE,
        )
    if found.told:
        tell("the state was begun by another version of the spec, and continues as it is:")
        for line in found.told:
            tell(f"  {line}")
        tell("  `streamc diff` shows more; a savepoint marks what is temporarily inexact")


def carried_over(
    fault: RuntimeFault, plan: Plan, settings: RunSettings, arguments: Arguments
) -> RuntimeFault:
    """The same fault with the way to continue from the existing state."""
    return RuntimeFault(fault.code, fault.message, _help(plan, settings.state, arguments))


def _help(plan: Plan, state: str, arguments: Arguments) -> str:
    try:
        files, folder, _ = local_state(state)
    except RuntimeFault:
        return (
            "a savepoint carries a state over to another version, and is taken from a folder on "
            "this machine's disk: see docs/savepoints.md\n" + _ELSE
        )
    newest = _newest_barrier(files, folder)
    if newest is None:
        return (
            "a savepoint carries the state over to this version, but needs a barrier, and there "
            "is none:\nrun the version that began it and end it with\n"
            f"  {_command('streamc', 'stop', '--state', state)}\n"
            "which takes a last barrier; then run this version again for the next steps\n"
            "or start over with another `--state` and other outputs"
        )
    name = new_name(plan.pipeline, newest, files.list(f"{folder}/{FOLDER}"))
    path, spec = _paths(plan, arguments)
    where = ("--state", state)
    commands = (
        ("streamc", "savepoint", "create", *where, "--name", name),
        ("streamc", "savepoint", "plan", spec, *where, "--savepoint", name),
        ("streamc", "run", path, *_options(arguments), *where, "--from-savepoint", name),
    )
    return "\n".join(
        [
            "carry the state over to this version of the spec with a savepoint:",
            *(f"  {_command(*words)}" for words in commands),
            "decisions that the plan asks for go into a file: `--write FILE` drafts it, "
            "`--migration FILE` uses it",
            _ELSE,
        ]
    )


def _newest_barrier(files: LocalFiles, folder: str) -> int | None:
    note = current_generation(files, folder)
    if note is None:
        return None
    names = files.list(f"{folder}/generations/{note.number}/barriers")
    numbers = (barrier_of(name) for name in names)
    return max((number for number in numbers if number is not None), default=None)


def _paths(plan: Plan, arguments: Arguments) -> tuple[str, str]:
    """The path to run again, and its spec: the text next to a script, if a script was run."""
    named = plan.spec
    if arguments.path is None:
        return named, named
    path = _shown(arguments.path)
    if path.suffix != ".py":
        return str(path), str(path)
    beside = path.with_suffix(".spec")
    return str(path), str(beside) if beside.is_file() else named


def _shown(path: Path) -> Path:
    """A path relative to the current folder, if it is below it."""
    return path.relative_to(os.getcwd()) if path.is_relative_to(os.getcwd()) else path


def _options(arguments: Arguments) -> list[str]:
    given: list[str] = ["--until-caught-up"] if arguments.until_caught_up else []
    if arguments.profile is not None:
        given += ["--profile", arguments.profile]
    return given + _variables(arguments.variables)


def _variables(variables: Mapping[str, str]) -> list[str]:
    """The variables as given; possible secrets are left for the user to fill in."""
    words: list[str] = []
    for name, value in variables.items():
        hidden = written_secret(name, value) is not None
        words += ["--var", f"{name}={'…' if hidden else value}"]
    return words


def _command(*words: str) -> str:
    return " ".join(word if word.endswith("=…") else shlex.quote(word) for word in words)
