"""Waits at named steps of the protocol, for tests: `STREAMC_DELAYS={"coordinator.record": 0.2}`.

Each step waits a random time up to its seconds. A race needs two things within milliseconds; with
waits in other places each time, it comes about. Steps of the gate stand in `kernel/gate`.
"""

from __future__ import annotations

import json
import os
import random
import time

DELAYS = "STREAMC_DELAYS"


def pause(step: str) -> None:
    """Waits as the environment says for this step; as a rule it says nothing."""
    text = os.environ.get(DELAYS)
    if text:
        time.sleep(random.uniform(0, float(json.loads(text).get(step, 0))))
