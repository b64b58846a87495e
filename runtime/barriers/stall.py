"""The watchdog of a run: whether it is stalled, and who waits for whom.

Something keeps happening in a healthy run: an epoch opens, a query commits one, the sources report
that they have nothing new. When nothing has happened for long, the gate says why.
"""

from __future__ import annotations

from ...contracts.notes.status import Stall
from .gate import GateStatus

_PATIENCE = 30.0
"""Seconds without any event, beyond the cadence, before a run counts as stalled."""


def find_stall(status: GateStatus, now: float, cadence: float, timeout: float) -> Stall | None:
    """Whether a run is stalled at an instant (seconds).

    `cadence` is the pause between epochs (seconds). A query at work may take until `timeout` before
    that is a stall: by then a barrier has failed because of it.
    """
    still = max(now - status.moved_at, 0.0)
    behind = [id for id, turn in status.queries.items() if turn.done < status.epoch]
    if still < (timeout if behind else cadence + _PATIENCE):
        return None
    return Stall(still, _reason(status, behind, now), bool(behind))


def _reason(status: GateStatus, behind: list[str], now: float) -> str:
    if behind:
        names = ", ".join(f"`{id}`" for id in sorted(behind))
        return f"epoch {status.epoch} is not committed by {names}; the other queries wait for that"
    if status.barrier is not None:
        return f"the barrier of epoch {status.barrier} is reached but not recorded"
    if status.asked_at is not None:
        asked = f"the sources were asked {now - status.asked_at:.0f} s ago and have not answered"
        return f"{asked}; all queries wait for that"
    waits = {
        "sources": "no query asks for an epoch after it",
        "queries": "a barrier is requested, but no query takes the epoch that it needs",
        "record": "input waits for a barrier to be recorded, but none is being taken",
        "ending": "the run should end but does not",
        "fenced": "another process has taken the state",
    }
    said = waits.get(status.waits, f"it waits for {status.waits}")
    return f"all queries have committed epoch {status.epoch}: {said}"
