"""Work on a document that waits until nothing has changed for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

DELAY = 0.1
"""How long nothing may change, in seconds."""


class Debounced:
    """Runs ``work`` on a key once, after the last of the changes that come in quick succession."""

    def __init__(self, work: Callable[[str], Awaitable[None]], delay: float = DELAY) -> None:
        self._work = work
        self._delay = delay
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def changed(self, key: str, *, at_once: bool = False) -> None:
        """Have the work done after the delay, in place of what waits."""
        self.cancel(key)
        self._waiting[key] = asyncio.ensure_future(self._later(key, 0 if at_once else self._delay))

    def cancel(self, key: str) -> None:
        """Forget what waits; work that has begun is not interrupted."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()

    async def _later(self, key: str, delay: float) -> None:
        await asyncio.sleep(delay)
        self._waiting.pop(key, None)
        await self._work(key)
