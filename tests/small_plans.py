"""Plans of pipelines that read and write nothing, for code that needs only their identity."""

from __future__ import annotations

from typing import Any

from streamc.contracts.plan import Checkpoint, Plan, Profile, Settings


def small_plan(
    pipeline: str = "p",
    version: int = 1,
    *,
    profiles: dict[str, Profile] | None = None,
    **settings: Any,
) -> Plan:
    """Return a plan without operators; `settings` are those that are not the least ones."""
    least: dict[str, Any] = {
        "state": None,
        "trigger": "as fast as possible",
        "state_backend": "auto",
        "variables": {},
        "spark": {},
    }
    return Plan(
        pipeline=pipeline,
        version=version,
        description=None,
        spec=f"{pipeline}.stream",
        settings=Settings(**{**least, **settings}, profiles=profiles or {}),
        checkpoint=Checkpoint("30 seconds", 5, "10 minutes", 3),
        sources={},
        operators={},
        queries={},
        sinks={},
    )
