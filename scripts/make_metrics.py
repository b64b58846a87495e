"""Write the table of metrics: `make_metrics.py FILE` replaces it in the page."""

from __future__ import annotations

import sys
from pathlib import Path

from streamc.runtime.execution.metrics.registry import METRICS, Metric

BEGIN, END = "<!-- `make metrics` writes this table. -->\n", "<!-- end -->\n"


def with_table(page: str) -> str:
    """Return a page with the current table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    """Return a row for each metric, as it is queried."""
    head = "| metric | kind | labels | unit | |\n|---|---|---|---|---|\n"
    return head + "".join(map(_row, METRICS))


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.sample}` | {metric.kind} | {labels} | {metric.unit} | {metric.help} |\n"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
