"""The process of a soak: started, stopped cleanly or by a signal, and restarted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.lives import Life

BENCHMARKS = Path(__file__).parents[1]
STREAMC = Path(sys.executable).with_name("streamc")
_STOP = 600.0


@dataclass
class Lives:
    """Processes that run one script on one state, one after the other.

    Their temporary files go to a separate folder, where leftovers can be counted. `delays` are
    seconds by the step at which a job waits that long; `probe` is how often it measures its own
    memory.
    """

    script: Path
    folder: Path
    variables: Mapping[str, str]
    probe: float
    delays: Mapping[str, float] = field(default_factory=dict)
    started: int = 0
    life: Life | None = None
    beside: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def log(self) -> Path:
        """The output of all lives."""
        return self.folder / "job.log"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Builds the kernel, so that no life has to wait for it."""
        built = self._run("kernel", "build")
        if built.returncode:
            raise RuntimeError(built.stderr.decode(errors="replace"))

    def start(self) -> Life:
        """Starts the next life, in a new session."""
        self.temporary.mkdir(exist_ok=True)
        job = [sys.executable, "-m", "soaking.job", str(self.script), str(self.folder)]
        pairs = [f"--var={name}={value}" for name, value in self.variables.items()]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*job, str(self.probe), "--state", str(self.state), *pairs],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
        self.started += 1
        self.life = Life(process, time.monotonic(), self.log)
        return self.life

    def stop(self) -> str | None:
        """Requests a stop of the job, as a user does; what went wrong, None if nothing did."""
        asked = self._run("stop", "--state", str(self.state), f"--timeout={_STOP:.0f}")
        life = self.life
        code = life.wait(_STOP) if life is not None else None
        if asked.returncode or code:
            text = asked.stderr.decode(errors="replace")
            return f"`streamc stop` gave {asked.returncode}, the job {code}: {text}"
        return self._jvm_left()

    def terminate(self) -> str | None:
        """Ends the job by a signal; what went wrong, None if nothing did."""
        life = self.life
        if life is None:
            return "there is no job to terminate"
        life.process.terminate()
        code = life.wait(_STOP)
        return self._jvm_left() if code == 143 else f"SIGTERM gave {code}:\n{life.said()}"

    def create_savepoint(self, name: str) -> None:
        """Starts taking a savepoint, next to the job."""
        with (self.folder / "savepoints.log").open("ab") as log:
            self.beside.append(
                subprocess.Popen(
                    [STREAMC, "savepoint", "create", name, "--state", self.state],
                    cwd=self.folder,
                    stdout=log,
                    stderr=log,
                    env=self._environment(),
                    start_new_session=True,
                )
            )

    def savepoints(self, seconds: float) -> list[int | None]:
        """The exit codes of all savepoint commands; None for one that takes longer."""
        codes: list[int | None] = []
        for process in self.beside:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            codes.append(process.returncode)
        return codes

    def kill_all(self) -> None:
        """Kills whatever is left of all processes."""
        if self.life is not None:
            self.life.kill_all()
        for process in self.beside:
            Life(process, 0, self.log).kill_all()

    def _jvm_left(self) -> str | None:
        """A JVM removes its temporary files before it ends, a moment after the job."""
        gone = self.life is None or self.life.wait_for_jvm(_STOP) is not None
        return None if gone else "the JVM outlives the job"

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [str(STREAMC), *arguments]
        return subprocess.run(command, capture_output=True, check=False, cwd=self.folder)

    def _environment(self) -> dict[str, str]:
        path = [str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
        delays = {"STREAMC_DELAYS": json.dumps(dict(self.delays))} if self.delays else {}
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "TMPDIR": str(self.temporary),
            "JDK_JAVA_OPTIONS": f"-Djava.io.tmpdir={self.temporary}",
            "SHOP_TOTALS": str(self.folder / "totals.sqlite"),
            **delays,
        }
