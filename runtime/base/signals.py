"""Asking a run to end: from another thread, by Ctrl-C or by SIGTERM."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# A supervisor may send one signal twice, to the process and to its group.
_PATIENCE = 1.0


class Stop:
    """A request to end; `signal` is the number of the signal that caused it, if any."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.signal: int | None = None

    def request(self, number: int | None = None) -> None:
        """Asks the run to stop its queries and end."""
        if not self._event.is_set():
            self.signal = number
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    @property
    def exit_code(self) -> int:
        """130 for Ctrl-C and 143 for SIGTERM, as shells and supervisors expect, else 0.

        Zero would say that the input was fully processed, which it was not: a scheduler that runs
        `--until-caught-up` must not proceed to the next step. spark-submit ends with the same
        codes.
        """
        return 0 if self.signal is None else 128 + self.signal

    def wait(self, seconds: float) -> bool:
        """Waits for a request; returns whether there is one."""
        return self._event.wait(seconds)


@contextmanager
def listening(stop: Stop) -> Iterator[None]:
    """Turns SIGINT and SIGTERM into a request; a later one ends the process at once.

    Does nothing outside the main thread, where Python allows no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first: float | None = None

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if first is None:
            first = time.monotonic()
            stop.request(number)
        elif time.monotonic() - first > _PATIENCE:
            os._exit(128 + number)

    before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {
        number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
