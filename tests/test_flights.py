"""Real input: every sink of the flights pipeline against pandas, row by row."""

import subprocess
import sys
from pathlib import Path

import flights_oracle as oracle
import pandas as pd
import pytest
from compiled import compiled, written

ROOT = Path(__file__).parents[1]
FLIGHTS = ROOT / "specs" / "flights"


@pytest.mark.spark
def test_shipped_slice(tmp_path: Path) -> None:
    """Three days, as `make demo` shows them."""
    check(FLIGHTS / "data", tmp_path)


@pytest.mark.spark
@pytest.mark.long
def test_whole_year(tmp_path: Path) -> None:
    """All 336,776 flights of 2013, in batches of thirty days."""
    year = tmp_path / "year"
    run([str(FLIGHTS / "make_slice.py"), "--year", "--out", str(year)])
    expected = check(year, tmp_path)
    assert len(expected["flight_weather"]) > 330_000


@pytest.mark.long
def test_slice_is_what_its_script_makes(tmp_path: Path) -> None:
    """The committed bytes come from the package and the script alone."""
    run([str(FLIGHTS / "make_slice.py"), "--out", str(tmp_path)])
    for source in ("flights", "weather"):
        made = {path.name: path.read_bytes() for path in (tmp_path / source).iterdir()}
        shipped = {path.name: path.read_bytes() for path in (FLIGHTS / "data" / source).iterdir()}
        assert made == shipped


def check(data: Path, work: Path) -> dict[str, pd.DataFrame]:
    """Run the job on the input and compare all that it wrote."""
    run_job(data, work)
    expected = oracle.results(oracle.Input.read(data / "flights", data / "weather"))
    for name, rows in expected.items():
        oracle.compare(name, pd.read_parquet(work / "out" / name), rows)
    return expected


def run_job(data: Path, work: Path) -> None:
    """Compile the spec and run all of the input through it, into `work/out`."""
    result = compiled(FLIGHTS / "flights.stream", "flights.stream")
    script = written(result, work)
    run(
        [
            *(str(script), "--until-caught-up", "--state", str(work / "state")),
            *("--var", f"flights={data / 'flights'}", "--var", f"weather={data / 'weather'}"),
            *("--var", f"out={work / 'out'}"),
        ]
    )


def run(arguments: list[str]) -> None:
    """Run a Python script; its output comes with the failure."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
