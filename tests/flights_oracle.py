"""The four results of `specs/flights`, computed by pandas from the same JSON lines.

Written from the meaning of the spec and not from what the compiler makes of it. A result holds what
the final watermark has closed: the greatest event time less the declared delay, the smaller of two
where a query reads two sources. Input is in order, so that no row is late.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

DELAY = pd.Timedelta(hours=1)
HOUR = pd.Timedelta(hours=1)
DAY = pd.Timedelta(days=1)
REST = pd.Timedelta(hours=6)

KEYS = {
    "departures": ["window_start", "origin"],
    "flight_weather": ["scheduled_at", "carrier", "flight", "origin"],
    "aircraft": ["tail_number", "window_start"],
    "worst_routes": ["window_start", "origin", "dest"],
}
"""The columns that identify the rows of a result."""


@dataclass(frozen=True, slots=True)
class Input:
    """The rows of both sources; times are UTC without a zone."""

    flights: pd.DataFrame
    weather: pd.DataFrame

    @classmethod
    def read(cls, flights: Path, weather: Path) -> "Input":
        """Read two folders of JSON lines."""
        return cls(_read(flights, "scheduled_at"), _read(weather, "observed_at"))


def results(data: Input) -> dict[str, pd.DataFrame]:
    """Every sink's rows, by the stream that it reads."""
    flights = data.flights.assign(cancelled=data.flights["departure_delay"].isna())
    closed = flights["scheduled_at"].max() - DELAY
    return {
        "departures": departures(flights, closed),
        "flight_weather": flight_weather(flights, data.weather, closed),
        "aircraft": aircraft(flights, closed),
        "worst_routes": worst_routes(flights, closed),
    }


def departures(flights: pd.DataFrame, closed: pd.Timestamp) -> pd.DataFrame:
    """By airport and hour."""
    flights = flights.assign(window_start=flights["scheduled_at"].dt.floor("h"))
    groups = flights.groupby(["origin", "window_start"], as_index=False)
    rows = groups.agg(
        flights=("flight", "size"),
        mean_delay=("departure_delay", "mean"),
        cancelled_share=("cancelled", "mean"),
    )
    return rows[rows["window_start"] + HOUR <= closed]


def flight_weather(
    flights: pd.DataFrame, weather: pd.DataFrame, flights_closed: pd.Timestamp
) -> pd.DataFrame:
    """Each flight with its hour's weather, or without once none can arrive any more."""
    closed = min(flights_closed, weather["observed_at"].max() - DELAY)
    assert (weather["observed_at"] == weather["observed_at"].dt.floor("h")).all()
    rows = flights.assign(hour=flights["scheduled_at"].dt.floor("h")).merge(
        weather.assign(hour=weather["observed_at"]), on=["origin", "hour"], how="left"
    )
    rows = rows[rows["observed_at"].notna() | (rows["scheduled_at"] < closed)]
    return rows[
        [
            "scheduled_at",
            "carrier",
            "flight",
            "origin",
            "dest",
            "departure_delay",
            "cancelled",
            "observed_at",
            "temperature",
            "wind_speed",
            "precipitation",
            "visibility",
        ]
    ]


def aircraft(flights: pd.DataFrame, closed: pd.Timestamp) -> pd.DataFrame:
    """Sessions of an aircraft: departures that are at most six hours apart."""
    flown = flights[flights["tail_number"].notna() & ~flights["cancelled"]]
    flown = flown.sort_values(["tail_number", "scheduled_at"])
    pause = flown.groupby("tail_number")["scheduled_at"].diff()
    flown = flown.assign(session=(pause.isna() | (pause > REST)).cumsum())
    sessions = flown.groupby(["session", "tail_number"])
    rows = sessions.agg(
        window_start=("scheduled_at", "min"),
        window_end=("scheduled_at", "max"),
        flights=("flight", "size"),
        origins=("origin", "nunique"),
    )
    rows["window_end"] += REST
    # As in SQL, the sum of nothing but NULL is NULL.
    rows[["air_time", "distance"]] = sessions[["air_time", "distance"]].sum(min_count=1)
    return rows[rows["window_end"] <= closed].reset_index("tail_number").reset_index(drop=True)


def worst_routes(flights: pd.DataFrame, closed: pd.Timestamp) -> pd.DataFrame:
    """The ten worst routes of each day, of those with three departures."""
    flights = flights.assign(window_start=flights["scheduled_at"].dt.floor("D"))
    rows = flights.groupby(["window_start", "origin", "dest"], as_index=False).agg(
        flights=("flight", "size"),
        mean_delay=("departure_delay", "mean"),
        max_delay=("departure_delay", "max"),
        departed=("departure_delay", "count"),
    )
    rows = rows[(rows["departed"] >= 3) & (rows["window_start"] + DAY <= closed)]
    rows = rows.sort_values(
        ["window_start", "mean_delay", "origin", "dest"], ascending=[True, False, True, True]
    )
    return rows.groupby("window_start").head(10).drop(columns="departed")


def compare(name: str, actual: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Assert that a sink holds exactly the expected rows and columns, in any order of rows."""
    assert list(actual.columns) == list(expected.columns), name
    pd.testing.assert_frame_equal(
        _comparable(actual, KEYS[name]),
        _comparable(expected, KEYS[name]),
        check_exact=True,
        obj=name,
    )


def _read(folder: Path, time: str) -> pd.DataFrame:
    files = sorted(folder.glob("*.json"))
    assert files, f"no input in {folder}"
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    rows = pd.DataFrame([json.loads(line) for line in lines])
    rows[time] = pd.to_datetime(rows[time], utc=True).dt.tz_localize(None)
    return rows


def _comparable(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """One type for all numbers, one for all instants, and rows in the order of their keys."""
    rows = rows.copy()
    assert not rows.duplicated(keys).any(), f"equal keys {keys}"
    for name, values in rows.items():
        if pd.api.types.is_numeric_dtype(values):
            rows[name] = values.astype("float64")
        elif pd.api.types.is_datetime64_any_dtype(values):
            rows[name] = values.dt.tz_localize(None).astype("datetime64[us]")
    return rows.sort_values(keys, ignore_index=True)
