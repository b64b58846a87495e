"""Show the results of the flights pipeline as tables: `show_flights.py FOLDER`.

The folder is the pipeline's variable `out`. Of each result a few rows are shown, the most telling
first.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    """What to show of a result: which rows, and which columns (None means all of them)."""

    caption: str
    choose: Callable[[list[Row]], list[Row]]
    columns: tuple[str, ...] | None = None


def main() -> None:
    """Print the four tables."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(sys.argv[0]).name} FOLDER")
    console = Console()
    for name, view in VIEWS.items():
        rows = parquet.read_table(Path(sys.argv[1]) / name).to_pylist()
        console.print(f"\n[bold]{name}[/]: {len(rows):,} rows, here {view.caption}")
        console.print(table(view.choose(rows), view.columns))


def most_cancelled(rows: list[Row]) -> list[Row]:
    """Hours of at least ten flights, by the share that was cancelled."""
    busy = [row for row in rows if row["flights"] >= 10]
    return descending(busy, "cancelled_share")[:8]


def most_delayed(rows: list[Row]) -> list[Row]:
    """The most delayed flights, six with and two without weather."""
    delayed = descending(rows, "departure_delay")
    known = [row for row in delayed if row["observed_at"] is not None]
    unknown = [row for row in delayed if row["observed_at"] is None]
    return known[:6] + unknown[:2]


def busiest(rows: list[Row]) -> list[Row]:
    """The sessions with most flights."""
    return descending(descending(rows, "distance"), "flights")[:8]


def worst_of_each_day(rows: list[Row]) -> list[Row]:
    """The three worst routes of each day."""
    ordered = sorted(descending(rows, "mean_delay"), key=lambda row: str(row["window_start"]))
    days = groupby(ordered, key=lambda row: row["window_start"])
    return [route for _, routes in days for route in islice(routes, 3)]


VIEWS = {
    "departures": View("the hours with most cancellations", most_cancelled),
    "flight_weather": View(
        "the longest delays, and two without weather",
        most_delayed,
        (
            "scheduled_at",
            "flight",
            "origin",
            "dest",
            "departure_delay",
            "precipitation",
            "visibility",
        ),
    ),
    "aircraft": View("the busiest aircraft", busiest),
    "worst_routes": View("the three worst routes of each day", worst_of_each_day),
}


def descending(rows: list[Row], column: str) -> list[Row]:
    """Rows from the greatest value to the least, NULL last; equal ones keep their order."""
    return sorted(rows, key=lambda row: (row[column] is not None, row[column] or 0), reverse=True)


def table(rows: list[Row], columns: tuple[str, ...] | None) -> Table:
    """Lay rows out in eighty columns, numbers to the right."""
    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    names = columns or tuple(rows[0] if rows else ())
    for name in names:
        number = any(isinstance(row[name], int | float) for row in rows)
        made.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        made.add_row(*(cell(row[name]) for name in names))
    return made


def cell(value: object) -> str:
    """A value in readable form."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}"
        case datetime():
            return f"{value:%d %b %H:%M}"
        case _:
            return str(value)


if __name__ == "__main__":
    main()
