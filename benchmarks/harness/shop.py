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
QUERIES = ("copied", "per_minute", "per_hour", "paid")
_SQLITE = "connector = 'python', function = '${totals}'"
_SERVER = "connector = 'postgres', url = '${totals}', table = 'totals'"


@dataclass
class Shop:
    """The pipeline in a folder of its own.

    The totals go to the PostgreSQL at `server`, a URL with user and password; without one, a python
    sink keeps them in SQLite. State and outputs lie in `data`, which may be another disk.
    """

    folder: Path
    seed: int = 0
    files_per_epoch: int = 2
    server: str | None = None
    data: Path = field(default=Path())
    writer: Writer = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.data == Path():
            self.data = self.folder
        self.writer = Writer(self.folder / "in", self.seed)
        spec = self.folder / "shop.stream"
        text = (HERE / "shop.stream").read_text("utf-8")
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
        """What the script is started with."""
        variables = {"in": self.writer.folder, "out": self.out, "files": self.files_per_epoch}
        if self.server:
            variables["totals"] = self.server
        pairs = [part for pair in variables.items() for part in ("--var", "{}={}".format(*pair))]
        return ["--state", str(self.state), *pairs]

    @property
    def environment(self) -> Mapping[str, str]:
        """What the python sink goes by."""
        return {"SHOP_TOTALS": str(self.data / "totals.sqlite")}

    @property
    def generation(self) -> Path:
        """The folder of the newest generation."""
        return max((self.state / "generations").glob("[0-9]*"), default=self.state)

    def commits(self, query: str) -> int:
        """The number behind the last batch that Spark has committed, 0 for none."""
        numbers = [
            int(file.name)
            for file in (self.generation / "queries" / query / "commits").glob("[0-9]*")
        ]
        return max(numbers, default=-1) + 1

    def found(self) -> Mapping[str, Rows]:
        """The rows of all sinks."""
        totals = rows_on_server(self.server) if self.server else self._in_sqlite()
        files = ("copy", "windows", "pairs")
        return {"totals": totals} | {s: rows_in_files(visible(self.out / s)) for s in files}

    def right(self) -> Mapping[str, Rows]:
        """The rows that all sinks should hold when all of the input has been read."""
        return expected(sorted(self.writer.folder.glob("[0-9]*.json")))

    def differences(self) -> dict[str, Difference]:
        """How the sinks differ from what they should hold."""
        return differences(self.found(), self.right())

    def _in_sqlite(self) -> Rows:
        return rows_in_sqlite(Path(self.environment["SHOP_TOTALS"]))


def compile_spec(spec: Path, to: Path) -> None:
    """Compiles a spec; the script has its name."""
    streamc = Path(sys.executable).with_name("streamc")
    subprocess.run([streamc, "compile", spec, "-o", to], check=True, stdout=subprocess.DEVNULL)
