"""Pipelines assembled from parts, with their own policies of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.shop import compile_spec
from streamc.runtime import Arguments
from streamc.runtime.plan.plan import load_plan, plan_path
from streamc.runtime.plan.retention import batches_to_retain
from streamc.runtime.plan.settings import resolve_settings

PARTS = Path(__file__).parent / "parts"
PIPELINES = {
    "swift": ("events", "copy"),
    "small": ("events", "once", "windows", "awaited"),
    "full": (
        *("formats", "copy", "once", "windows", "console", "payments", "pairs"),
        *("awaited", "reminders", "hours", "beats"),
    ),
}
"""From an epoch that is as short as possible to one with everything that runs without a server."""

_ANY = dict.fromkeys(("in", "out", "server", "brokers"), "-")


@dataclass(frozen=True, slots=True)
class Policy:
    """When barriers are taken and epochs open.

    `every` and `trigger` are in seconds. Without `every` there is no CHECKPOINT statement, and
    `retain` is ignored; without a trigger epochs follow each other.
    """

    every: float | None = None
    retain: int = 3
    trigger: float | None = None
    in_flight: int = 1

    @property
    def shown(self) -> str:
        barriers = "default" if self.every is None else f"{self.every:g} s, {self.retain} kept"
        trigger = "" if self.trigger is None else f", trigger {self.trigger:g} s"
        return f"barriers: {barriers}{trigger}, {self.in_flight} in flight"


def batches_kept(script: Path) -> int:
    """How many batches Spark keeps for the barriers of a pipeline: until then its state grows.

    A quarter more, since Spark removes older ones when it next cleans up.
    """
    plan = load_plan(plan_path(script))
    settings = resolve_settings(plan, Arguments(variables=_ANY), {})
    return batches_to_retain(settings, plan.checkpoint) * 5 // 4


def spec(parts: Sequence[str], policy: Policy) -> str:
    """The text of a pipeline."""
    head = ["---", "pipeline: soak", f"max_epochs_in_flight: {policy.in_flight}"]
    if policy.trigger is not None:
        head.append(f"trigger: {_milliseconds(policy.trigger)}")
    head += [f"variables: {{{', '.join(f'{name}: null' for name in _ANY)}}}", "---"]
    statements = [(PARTS / f"{part}.stream").read_text("utf-8").rstrip() for part in parts]
    if policy.every is not None:
        every = _milliseconds(policy.every).upper()
        statements.insert(0, f"CHECKPOINT EVERY INTERVAL {every} RETAIN {policy.retain};")
    return "\n\n".join(["\n".join(head), *statements]) + "\n"


def write(parts: Sequence[str], policy: Policy, folder: Path) -> Path:
    """Compiles a pipeline in a folder; the path of its script."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "soak.stream"
    path.write_text(spec(parts, policy), "utf-8")
    compile_spec(path, folder)
    return path.with_suffix(".py")


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)} milliseconds"
