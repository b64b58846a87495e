"""A folder with the compiled pipeline of the shop, its input, its state and its outputs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .events import Writer
from .oracle import Rows, expected
from .outputs import Difference, differences, rows_in_files, rows_in_sqlite, rows_on_server, visible

HERE = Path(__file__).parent
FILES = ("copy", "windows", "pairs")
QUERIES = ("copied", "per_minute", "per_hour", "paid")
_EVERY = "EVERY INTERVAL 2 SECONDS"
_SQLITE = "connector = 'python', function = '${totals}'"
_SERVER = "connector = 'postgres', url = '${totals}', table = 'totals'"


@dataclass
class Shop:
    """The pipeline in a folder of its own.

    The totals go to the PostgreSQL at `server`, a URL with user and password; without one, a python
    sink keeps them in SQLite. `every` is the interval of barriers. State and outputs are in `data`,
    which may be another disk.
    """

    folder: Path
    seed: int = 0
    files_per_epoch: int = 2
    server: str | None = None
    every: str = "2 SECONDS"
    data: Path = field(default=Path())
    writer: Writer = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.data == Path():
            self.data = self.folder
        self.writer = Writer(self.folder / "in", self.seed)
        spec = self.folder / "shop.stream"
        text = (
            (HERE / "shop.stream")
            .read_text("utf-8")
            .replace(_EVERY, f"EVERY INTERVAL {self.every}")
        )
        spec.write_text(text.replace(_SQLITE, _SERVER) if self.server else text, "utf-8")
        compile_spec(spec, self.folder)
        shutil.copy(HERE / "ledger_of_totals.py", self.folder)

    @property
    def script(self) -> Path:
        return self.folder / "shop.py"

    @property
    def state(self) -> Path:
        return self.data / "state"

    @property
    def out(self) -> Path:
        return self.data / "out"

    @property
    def arguments(self) -> list[str]:
        """The arguments of the script."""
        pairs = [f"--var={name}={value}" for name, value in self.variables.items()]
        return ["--state", str(self.state), *pairs]

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the spec."""
        files = {"files": str(self.files_per_epoch)}
        totals = {"totals": self.server} if self.server else {}
        return {"in": str(self.writer.folder), "out": str(self.out), **files, **totals}

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of the python sink."""
        return {"SHOP_TOTALS": str(self._totals)}

    @property
    def generation(self) -> Path:
        """The folder of the newest generation."""
        return max((self.state / "generations").glob("[0-9]*"), default=self.state)

    def commits(self, query: str) -> int:
        """The number after the last batch that Spark has committed, 0 for none."""
        numbers = [
            int(file.name)
            for file in (self.generation / "queries" / query / "commits").glob("[0-9]*")
        ]
        return max(numbers, default=-1) + 1

    def found(self) -> Mapping[str, Rows]:
        """The rows of all sinks."""
        totals = rows_on_server(self.server) if self.server else rows_in_sqlite(self._totals)
        return {"totals": totals} | {s: rows_in_files(visible(self.out / s)) for s in FILES}

    def found_up_to(self, batches: Mapping[str, int]) -> Mapping[str, Rows]:
        """The rows of all sinks, each up to a batch."""
        files = {
            sink: [f for f in visible(self.out / sink) if batch_of(f) <= batches[sink]]
            for sink in FILES
        }
        totals = rows_in_sqlite(self._totals, batches["totals"])
        return {"totals": totals} | {sink: rows_in_files(held) for sink, held in files.items()}

    def right(self, source: Path | None = None) -> Mapping[str, Rows]:
        """The rows that all sinks should hold once all of the input, or another, has been read."""
        return expected(sorted((source or self.writer.folder).glob("[0-9]*.json")))

    def differences(self, source: Path | None = None) -> dict[str, Difference]:
        """How the sinks differ from what they should hold."""
        return differences(self.found(), self.right(source))

    @property
    def _totals(self) -> Path:
        return self.data / "totals.sqlite"


def batch_of(file: Path) -> int:
    """The batch of a sink's file, from its name: `copy-0001-000000012-00000.json`."""
    return int(file.name.split("-")[2])


def compile_spec(spec: Path, to: Path) -> None:
    """Compiles a spec; the script has its name."""
    streamc = Path(sys.executable).with_name("streamc")
    subprocess.run([streamc, "compile", spec, "-o", to], check=True, stdout=subprocess.DEVNULL)
