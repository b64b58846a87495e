"""One soak, from its first file to its verdict."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.outputs import Difference

from . import pipeline, sinks
from .flatness import Growth, growths, second_half
from .inputs import ROWS, Feeder
from .lives import BENCHMARKS, Lives
from .pipeline import Policy
from .positions import Positions
from .samples import Sample, Sampler

LOOK = 0.2
START = 300.0
"""How long a life may take to its first epoch."""

IDLE = 10.0
"""A job that has read and committed all, and has opened no epoch for that long, has settled."""

ENOUGH = 6
"""With a clock as a source epochs never end; that many are enough for the remaining output."""


@dataclass(frozen=True)
class Wish:
    """What is soaked, and for how long.

    A job has stalled if no epoch has opened for `patience` seconds although there is input.
    `actions` happen in the first half: `stop` and `terminate` end the job and restart it,
    `savepoint` takes one next to it.
    """

    folder: Path
    parts: Sequence[str]
    policy: Policy
    seed: int = 1
    seconds: float = 1800
    interval: float = 0.5
    rows: int = ROWS
    sample: float = 5
    probe: float = 30
    patience: float = 120
    actions: Sequence[str] = ()
    delays: Mapping[str, float] = field(default_factory=dict)
    server: str | None = None
    brokers: str | None = None

    @property
    def formats(self) -> tuple[str, ...]:
        return ("json", "csv", "parquet") if "formats" in self.parts else ("json",)

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources that read these formats."""
        many = "formats" in self.parts
        return tuple(f"events_{format}" if many else "events" for format in self.formats)


@dataclass
class Outcome:
    """What a soak has found: faults, samples, differences of the sinks, what has grown."""

    samples: list[Sample] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    sinks: dict[str, Difference] = field(default_factory=dict)
    growths: list[Growth] = field(default_factory=list)
    left: int = 0
    """The number of temporary files that have outlived the job."""

    warm_up: int = 0
    """The epochs needed before the second half: what Spark keeps of each grows until then."""

    @property
    def warm(self) -> bool:
        """Whether growth in the second half can be judged."""
        judged = second_half(self.samples)
        return bool(judged) and judged[0]["epoch"] >= self.warm_up

    @property
    def right(self) -> bool:
        """Whether nothing failed, stalled, was lost or duplicated, or has grown."""
        rows = all(not one.lost and not one.doubled for one in self.sinks.values())
        flat = not self.warm or all(growth.flat for growth in self.growths)
        return bool(self.sinks) and rows and flat and not self.faults


class Fault(Exception):
    """A soak cannot continue, or its result is wrong."""


class Watch:
    """Detects a stall of a job: input is unread, and no epoch has opened for too long."""

    def __init__(
        self,
        feeder: Feeder,
        positions: Positions,
        sources: Sequence[str],
        patience: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feeder = feeder
        self._positions = positions
        self._sources = sources
        self._patience = patience
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """A job starts now, and gets time to do so."""
        self._epoch = self._positions.epoch
        self.since = self._clock() + START - self._patience

    @property
    def unread(self) -> int:
        return self._feeder.written - self._positions.files_read(self._sources)

    def look(self) -> None:
        """Raises Fault when the job has stalled."""
        epoch, now = self._positions.epoch, self._clock()
        if epoch != self._epoch:
            self._epoch, self.since = epoch, now
        elif now - self.since > self._patience:
            if unread := self.unread:
                raise Fault(
                    f"STALLED: epoch {epoch} is the last for {now - self.since:.0f} s, "
                    f"{unread} files are unread; it says {self._positions.status}"
                )
            self.since = now


class Soak:
    """One job on one state, fed and watched."""

    def __init__(self, wish: Wish, tell: Callable[[str], None]) -> None:
        self.wish = wish
        self._tell = tell
        wish.folder.mkdir(parents=True, exist_ok=True)
        self.feeder = Feeder(wish.folder / "in", wish.seed, wish.formats, wish.interval, wish.rows)
        script = pipeline.write(wish.parts, wish.policy, wish.folder)
        shutil.copy(BENCHMARKS / "harness" / "ledger_of_totals.py", wish.folder)
        variables = {
            "in": str(wish.folder / "in"),
            "out": str(wish.folder / "out"),
            "server": wish.server or "-",
            "brokers": wish.brokers or "-",
        }
        self.lives = Lives(script, wish.folder, variables, wish.probe, wish.delays)
        positions = Positions(self.lives.state)
        self._watch = Watch(self.feeder, positions, wish.sources, wish.patience)
        self._positions = positions
        samples = wish.folder / "samples.jsonl"
        self._sampler = Sampler(self.lives, self.feeder, positions, wish.sources, samples)
        self._begun = time.monotonic()

    def run(self) -> Outcome:
        """Soaks for the requested time; all processes have ended then."""
        outcome = Outcome(warm_up=pipeline.batches_kept(self.lives.script))
        try:
            self._feed(outcome)
            self._finish(outcome)
        except Fault as fault:
            outcome.faults.append(str(fault))
        finally:
            self.feeder.stop()
            self.lives.kill_all()
        outcome.samples = self._sampler.taken
        outcome.left = sum(file.is_file() for file in self.lives.temporary.rglob("*"))
        if not outcome.faults:
            outcome.growths = growths(outcome.samples)
            outcome.sinks = sinks.compare(self.wish.parts, self._places(), self.feeder.all_rows())
        return outcome

    def _feed(self, outcome: Outcome) -> None:
        self.lives.prepare()
        self.feeder.add(len(self.feeder.formats))
        self.lives.start()
        self._watch.begin()
        self._await(lambda: self._positions.epoch > 0)
        self._begun = time.monotonic()
        self.feeder.start()
        waiting = self._schedule()
        next_sample = 0.0
        while (at := time.monotonic() - self._begun) < self.wish.seconds:
            self._look()
            if at >= next_sample:
                next_sample = at + self.wish.sample
                self._sampler.take(at)
            while waiting and at >= waiting[0][0]:
                self._act(waiting.pop(0)[1], outcome)
            time.sleep(LOOK)

    def _finish(self, outcome: Outcome) -> None:
        """Lets the job read all that was written, and stops it."""
        self.feeder.close()
        self._await(lambda: not self._watch.unread)
        # # Input that the job itself causes, and timers of the clock, need a few more epochs.
        last = self._positions.committed
        self._await(lambda: self._positions.committed >= last + ENOUGH or self._has_settled())
        self._note(self.lives.stop(), outcome)
        for number, code in enumerate(self.lives.savepoints(300)):
            if code != 0:
                outcome.faults.append(f"savepoint {number}: exit code {code}")

    def _has_settled(self) -> bool:
        """Whether all queries are done, and nothing more follows for a while."""
        epoch, until = self._positions.epoch, time.monotonic() + IDLE
        while time.monotonic() < until:
            if self._positions.epoch != epoch or self._positions.committed < epoch:
                return False
            self._look()
            time.sleep(LOOK)
        return True

    def _act(self, action: str, outcome: Outcome) -> None:
        self._tell(f"{action}, {time.monotonic() - self._begun:.0f} s")
        if action == "savepoint":
            self.lives.create_savepoint(f"taken-{len(self.lives.beside)}")
            return
        ended = self.lives.stop() if action == "stop" else self.lives.terminate()
        self._note(ended, outcome)
        self.lives.start()
        self._watch.begin()

    def _schedule(self) -> list[tuple[float, str]]:
        rng = random.Random(f"actions {self.wish.seed}")
        length = self.wish.seconds
        return sorted((length * rng.uniform(0.1, 0.4), action) for action in self.wish.actions)

    def _await(self, seen: Callable[[], bool]) -> None:
        while not seen():
            self._look()
            time.sleep(LOOK)

    def _look(self) -> None:
        """Raises Fault when the job has ended by itself, or has stalled."""
        life = self.lives.life
        if life is None or not life.alive():
            code = None if life is None else life.process.returncode
            raise Fault(f"the job ended with {code}:\n{'' if life is None else life.said()}")
        self._watch.look()

    def _note(self, fault: str | None, outcome: Outcome) -> None:
        if fault is not None:
            outcome.faults.append(fault)

    def _places(self) -> sinks.Places:
        folder = self.wish.folder
        return sinks.Places(
            out=folder / "out",
            log=self.lives.log,
            kept=folder / "kept.jsonl",
            totals=folder / "totals.sqlite",
            server=self.wish.server,
        )
