"""Consecutive kills, the end of the input, and the figures of both."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import kills, lives
from .kills import Killed
from .outputs import Difference
from .shop import Shop

ENOUGH = 3
"""That many lives that ended by themselves end a series."""


@dataclass
class Report:
    """What a series has survived, and the state of the sinks at its end.

    `fallbacks` is how often the job fell back to a barrier: a kill alone damages no file.
    """

    killed: list[Killed] = field(default_factory=list)
    checks: list[Mapping[str, Difference]] = field(default_factory=list)
    fallbacks: int = 0

    @property
    def faults(self) -> list[str]:
        return [f"{killed.kind}: {killed.fault}" for killed in self.killed if killed.fault]

    @property
    def right(self) -> bool:
        """Whether nothing was ever lost or duplicated, and no life has ended by itself."""
        found = [one for check in self.checks for one in check.values()]
        return bool(found) and not self.faults and not any(o.lost or o.doubled for o in found)


def run(
    shop: Shop, kinds: Sequence[str], seed: int, tell: Callable[[str], None], check: int = 0
) -> Report:
    """Kills once for each kind, then runs to the end of the input and compares.

    After every `check` kills it also does so in between; 0 for never. A series that was itself
    interrupted continues in its folder.
    """
    record = shop.folder / "killed.jsonl"
    report = Report(_read(record))
    shop.writer.add()
    lives.archive_classes(shop)
    for number, kind in list(enumerate(kinds, start=1))[len(report.killed) :]:
        killed = kills.kill(shop, kind, random.Random(f"{seed}-{number}"))
        report.killed.append(killed)
        with record.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(asdict(killed))}\n")
        tell(f"{number:4} {_line(killed)}")
        if len(report.faults) >= ENOUGH:
            return report
        if check and number % check == 0:
            report.checks.append(_check(shop, tell))
    shop.writer.close()
    report.checks.append(_check(shop, tell))
    report.fallbacks = len(list((shop.state / "generations").glob("[0-9]*"))) - 1
    return report


def chosen(count: int, seed: int, weights: Mapping[str, int] = kills.WEIGHTS) -> list[str]:
    """A number of kinds of kills, by their weights."""
    rng = random.Random(f"kinds {seed}")
    return rng.choices(list(weights), list(weights.values()), k=count)


def table(report: Report) -> str:
    """The figures of a series."""
    lines = ["kill             survived   seconds to recover: min median max   JVM gone after: max"]
    for kind in dict.fromkeys(killed.kind for killed in report.killed):
        of_kind = [killed for killed in report.killed if killed.kind == kind]
        lines.append(_row(kind, of_kind))
    lines.append(_row("all", report.killed))
    lines += ["", "sink          rows      lost   doubled"]
    for sink, last in report.checks[-1].items() if report.checks else ():
        lost = max(check[sink].lost for check in report.checks)
        doubled = max(check[sink].doubled for check in report.checks)
        lines.append(f"{sink:8} {last.rows:9,} {lost:9} {doubled:9}")
    lines += ["", f"went back to a barrier: {report.fallbacks} times", *report.faults]
    return "\n".join(lines).rstrip()


def _read(record: Path) -> list[Killed]:
    lines = record.read_text("utf-8").splitlines() if record.exists() else []
    return [Killed(**json.loads(line)) for line in lines]


def _check(shop: Shop, tell: Callable[[str], None]) -> Mapping[str, Difference]:
    lives.catch_up(shop)
    found = shop.differences()
    tell(f"     caught up: {', '.join(f'{s} -{o.lost} +{o.doubled}' for s, o in found.items())}")
    return found


def _row(kind: str, killed: list[Killed]) -> str:
    recovered = [one.recovered for one in killed if one.recovered is not None]
    orphans = [one.orphan for one in killed if one.orphan is not None]
    survived = sum(not one.fault for one in killed)
    times = "                   "
    if recovered:
        low, middle, high = min(recovered), statistics.median(recovered), max(recovered)
        times = f"{low:6.1f} {middle:6.1f} {high:6.1f}"
    orphan = f"{max(orphans):6.2f}" if orphans else ""
    return f"{kind:12} {survived:6} of {len(killed):3}   {times:>32} {orphan:>22}"


def _line(killed: Killed) -> str:
    recovered = "-" if killed.recovered is None else f"{killed.recovered:.1f} s to recover"
    orphan = "" if killed.orphan is None else f", JVM gone after {killed.orphan:.2f} s"
    fault = "" if killed.fault is None else f"\n{killed.fault}"
    return f"{killed.kind:10} {recovered}{orphan}{fault}"
