"""Delays at named steps of the protocol, for tests: `STREAMC_DELAYS={"coordinator.record": 0.2}`.

Each step waits a random time up to its seconds. A race needs two events within milliseconds; delays
at varying places provoke it. Steps of the gate are in `kernel/gate`.
"""

from __future__ import annotations

import json
import os
import random
import time

DELAYS = "STREAMC_DELAYS"


def pause(step: str) -> None:
    """Waits as configured for this step in the environment; by default not at all."""
    text = os.environ.get(DELAYS)
    if text:
        time.sleep(random.uniform(0, float(json.loads(text).get(step, 0))))
