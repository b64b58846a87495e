"""The current figures of a soak: its progress, and its use of resources."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .inputs import Feeder
from .lives import Lives
from .positions import Positions

Sample = dict[str, float]
MEGABYTE = 2**20


@dataclass
class Sampler:
    """Takes samples of a soak and appends them to a file, one per line."""

    lives: Lives
    feeder: Feeder
    positions: Positions
    sources: Sequence[str]
    file: Path
    taken: list[Sample] = field(default_factory=list)

    def take(self, at: float) -> Sample:
        """The current figures, so many seconds after the beginning."""
        written, read = self.feeder.written, self.positions.files_read(self.sources)
        sample: Sample = {
            "at": round(at, 1),
            "life": self.lives.started,
            "epoch": self.positions.epoch,
            "barrier": self.positions.barrier,
            "written": written,
            "lag": written - read,
            **self._rows(),
            **self._processes(),
            **self._probed(),
            **self._state(),
            **_tree("output", self.lives.folder / "out"),
            **_tree("temporary", self.lives.temporary),
            "log_bytes": self._log_bytes(),
        }
        self.taken.append(sample)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(f"{json.dumps(sample)}\n")
        return sample

    def _state(self) -> Sample:
        """The size of the state without the names of files: a source remembers each for good."""
        folder = self.lives.state / "generations"
        whole, names = _tree("state", folder), [_tree("state", f) for f in folder.glob("*/sources")]
        return {name: value - sum(one[name] for one in names) for name, value in whole.items()}

    def _rows(self) -> Sample:
        """The rows of this life, in and out, of all queries."""
        queries = self.positions.status.get("queries", ())
        return {name: sum(int(q[name]) for q in queries) for name in ("rows_in", "rows_out")}

    def _processes(self) -> Sample:
        life = self.lives.life
        if life is None:
            return {}
        found = {f"python_{name}": value for name, value in _process(life.process.pid).items()}
        for pid in life.jvms()[:1]:
            found |= {f"jvm_{name}": value for name, value in _process(pid).items()}
        return found

    def _probed(self) -> Sample:
        """The job's last measurement of itself; each is taken once."""
        file = self.lives.folder / "probe.json"
        with suppress(OSError, ValueError):
            found = json.loads(file.read_text("utf-8"))
            file.unlink()
            return {name: value for name, value in found.items() if isinstance(value, int)}
        return {}

    def _log_bytes(self) -> int:
        logs = [*(self.lives.state / "logs").glob("*"), self.lives.log]
        return sum(log.stat().st_size for log in logs if log.exists())


def _process(pid: int) -> Sample:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return {
            "rss": int(status["VmRSS"].split()[0]) * 1024,
            "threads": int(status["Threads"]),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        }
    return {}


def _tree(name: str, folder: Path) -> Sample:
    sizes = list(_sizes(folder))
    return {f"{name}_files": len(sizes), f"{name}_bytes": sum(sizes)}


def _sizes(folder: Path | str) -> Iterator[int]:
    """The sizes of all files below a folder; files that disappear meanwhile are left out."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                yield from _sizes(entry.path)
            else:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_size
