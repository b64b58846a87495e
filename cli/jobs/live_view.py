"""A run as a table that stays in place on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...contracts.terminal import SafeStream, print_raw, printable, safe
from ...runtime.execution.views import duration, progress_line, standing_line

if TYPE_CHECKING:
    from rich.table import Table

    from ...contracts.notes.barrier import Manifest
    from ...contracts.notes.ledger import LedgerNote
    from ...contracts.notes.status import QueryProgress
    from ...contracts.plan import Plan
    from ...runtime.execution.status import Standing


class LiveView:
    """Shows a line for each query, with the ids of its stateful operators below it.

    The table is drawn on standard error; what console sinks print goes above it, or to standard
    output when that is a file or a pipe.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        # Control sequences must not go through the streams that escape them.
        terminal = sys.stderr.stream if isinstance(sys.stderr, SafeStream) else sys.stderr
        self._console = Console(file=terminal, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._title = ""
        self._standing = ""
        self._lock = threading.Lock()

    def start(self, plan: Plan) -> None:
        self._title = printable(f"{plan.pipeline} version {plan.version}")
        self._live.start()

    def update(self, queries: Sequence[QueryProgress]) -> None:
        with self._lock:
            table = progress_table(self._title, queries)
            table.caption = self._standing
            self._live.update(table, refresh=True)

    def standing(self, standing: Standing) -> None:
        self._standing = standing_line(standing, datetime.now(UTC))

    def ledger(self, note: LedgerNote) -> None:
        """Nothing to show: progress has the rows."""

    def barrier(self, manifest: Manifest) -> None:
        shown = f"barrier {manifest.barrier}: epoch {manifest.epoch}"
        self.note(f"{shown}, {manifest.state_rows:,} rows of state, {manifest.duration_ms} ms")

    def barrier_failed(self, reason: str) -> None:
        self.note(f"barrier failed: {reason}")

    def message(self, text: str) -> None:
        with self._lock:
            if sys.stdout.isatty():
                self._console.print(printable(text), markup=False, soft_wrap=True)
            else:
                print_raw(f"{text}\n")

    def note(self, text: str) -> None:
        self._console.print(safe(text), markup=False, soft_wrap=True)

    def finish(self, queries: Sequence[QueryProgress], outcome: str) -> None:
        self.close()
        for query in queries:
            self.note(progress_line(query, final=True))
        self.note(outcome)

    def close(self) -> None:
        """Removes the table; a run that ends with a fault calls nothing else."""
        self._live.stop()


def progress_table(title: str, queries: Sequence[QueryProgress]) -> Table:
    """The table at one moment."""
    from rich.table import Table

    table = Table(
        title=title, title_justify="left", caption_justify="left", box=None, pad_edge=False
    )
    table.add_column("query", no_wrap=True)
    for heading in ("batch", "rows in", "rows out", "rows/s", "watermark", "lag", "state", "late"):
        table.add_column(heading, justify="right", no_wrap=True)
    for query in queries:
        lag = "" if query.lag_seconds is None else duration(query.lag_seconds)
        table.add_row(
            printable(query.query),
            "" if query.batch < 0 else f"{query.batch:,}",
            f"{query.rows_in:,}",
            f"{query.rows_out:,}",
            f"{query.rate_processed:,.0f}",
            "" if query.watermark is None else f"{query.watermark:%m-%d %H:%M:%S}",
            lag,
            style=None if query.active else "dim",
        )
        for operator in query.operators:
            table.add_row(
                printable(f"  {operator.id}"),
                *[""] * 6,
                "" if operator.state_rows is None else f"{operator.state_rows:,}",
                f"{operator.late_rows:,}",
                style="dim",
            )
    return table
