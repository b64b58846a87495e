"""The protocol of epochs and barriers, explored whole: every order in which things can happen.

`protocol/` has the world around it: queries, sources, coordinator, crashes, requests, rollbacks.
What is explored is the machine that the gate runs, `Protocol.scala`. So that the search is known to
see, faults are planted in copies of it, and each has to be found.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import pytest
from streamc.runtime.base.java import find_java
from streamc.runtime.kernel.sources import kernel_sources
from streamc.runtime.plan.retention import interval

pytestmark = pytest.mark.spark  # Java, though no Spark

WORLD = Path(__file__).parent / "protocol"
PACKAGE = "org.apache.spark.sql.streamc"
JARS = Path(pyspark.__file__).parent / "jars"


@dataclass(frozen=True)
class Scenario:
    """A pipeline with its policy, and how often what comes from outside comes.

    The order of the fields is that of the arguments of `Explore`.
    """

    in_flight: int = 1
    settles: int = 1
    most: int = 2
    margin: int = 1
    tolerated: int = 2
    barriers: int = 2
    caught_up: int = 0
    queries: int = 2
    arrivals: int = 2
    restarts: int = 0
    failures: int = 0
    late: int = 0
    rollbacks: int = 0
    ticks: int = 0
    endings: int = 0

    @property
    def argument(self) -> str:
        before = (self.in_flight, self.settles, self.most, self.margin, self.tolerated)
        after = (self.arrivals, self.restarts, self.failures, self.late, self.rollbacks)
        apart = interval(self.most, self.margin)
        own = (self.barriers, apart, self.caught_up, self.queries)
        return ",".join(map(str, (*before, *own, *after, self.ticks, self.endings)))


SCENARIOS = {
    "everything": Scenario(restarts=1, failures=1, endings=1),
    "until caught up": Scenario(caught_up=1, restarts=1, failures=1, endings=1),
    "rollbacks": Scenario(queries=1, arrivals=3, restarts=2, rollbacks=1, endings=1),
    "no barrier for long": Scenario(queries=1, most=1, arrivals=5, barriers=1, failures=2),
    "ahead of each other": Scenario(in_flight=2, failures=1, endings=1),
    "nothing settles": Scenario(settles=0, most=1, restarts=1, endings=1),
    "three queries": Scenario(queries=3, ticks=1),
}
LONG = {
    "everything, and late": Scenario(restarts=1, failures=1, late=1, ticks=1, endings=1),
    "far ahead of each other": Scenario(in_flight=2, arrivals=3, failures=1, ticks=1, endings=1),
    "no barrier and restarts": Scenario(
        queries=1, most=1, arrivals=5, barriers=1, restarts=2, failures=2, endings=1
    ),
    "three queries that end": Scenario(queries=3, ticks=1, restarts=1, endings=1),
}


@dataclass(frozen=True)
class Planted:
    """A fault: parts of the protocol's text replaced, and what the search has to say."""

    replaced: Mapping[str, str]
    found: str
    scenario: Scenario = field(default_factory=Scenario)


PLANTED = {
    # The gate wants another barrier before the coordinator has taken the one that is reached, and
    # taking that leaves the other wanted: at a settled epoch behind which nothing has happened.
    "wanted again before it is taken": Planted(
        {
            "fenced: Boolean = false) {": "fenced: Boolean = false, again: Boolean = false) {",
            "done.updated(query, epoch)).reached": "done.updated(query, epoch)).reached.asked",
            "if (barrier == Barrier.Wanted) if": "if (barrier == Barrier.Wanted || again) if",
            "0 else failures + 1).pressed.reached": "0 else failures + 1)",
            "  private def reached: Protocol =\n    if (": """
                private def asked: Protocol =
                  if (last.number + 1 - tried > rules.most && allDone) copy(again = true) else this
                private def reached: Protocol =
                  if (again && barrier == Barrier.Idle && allDone && settled)
                    copy(barrier = Barrier.Reached(last.number), again = false)
                  else if (""",
        },
        "stalled: input is not read",
        Scenario(arrivals=3),
    ),
    "one that is reached is forgotten": Planted(
        {"if (barrier == Barrier.Idle && last.number - tried": "if (last.number - tried"},
        "broken: requirement failed: epoch",
    ),
    "a commit is not looked at": Planted(
        {"done.updated(query, epoch)).reached": "done.updated(query, epoch))"},
        "stalled: ",
    ),
    "not settled": Planted(
        {"barrier == Barrier.Wanted && allDone && settled": "barrier == Barrier.Wanted && allDone"},
        "is not settled",
    ),
    "not committed": Planted(
        {"barrier == Barrier.Wanted && allDone && settled": "barrier == Barrier.Wanted && settled"},
        "is not committed by all queries",
    ),
    "input without a barrier": Planted(
        {"outran(rules.most + rules.margin)": "outran(1000)"},
        "Spark drops what barrier",
        Scenario(queries=1, most=1, arrivals=7, barriers=1),
    ),
    "input after a stop": Planted(
        {"else if (ending == Ending.Hold || ending == Ending.Drain) Left(Wait.Ending)": ""},
        "has input behind the end",
        Scenario(endings=1),
    ),
    "nobody asks again": Planted(
        {"case Barrier.Idle => if (due && !covered)": "case Barrier.Idle => if (due && tried < 0)"},
        "stalled: ",
        Scenario(failures=1),
    ),
    "the end is not seen": Planted(
        {"copy(exhausted = ending == Ending.CaughtUp)": "this"},
        "goes in a circle",
        Scenario(caught_up=1),
    ),
    "an epoch of an earlier run": Planted(
        {"if (last.number > 0 && last.number != recorded) last.number else -1L": "-1L"},
        "is an epoch of an earlier run",
        Scenario(restarts=1),
    ),
    "too far ahead": Planted(
        {"slowest <= last.number - rules.inFlight": "slowest < last.number - rules.inFlight"},
        "is too far ahead",
    ),
    "another's state": Planted(
        {"if (fenced) Left(Wait.Fenced)": "if (false) Left(Wait.Fenced)"},
        "in a state that is another's",
        Scenario(endings=1),
    ),
}


def compiled(folder: Path, protocols: Sequence[str]) -> Path:
    """Each protocol and the world around it, in a separate package."""
    world = "\n".join(
        path.read_text("utf-8").removeprefix(f"package {PACKAGE}\n")
        for path in sorted(WORLD.glob("*.scala"))
    )
    sources = []
    for number, text in enumerate(protocols):
        own = text.replace(f"package {PACKAGE}\n", f"package explored{number}\n")
        source = folder / f"Protocol{number}.scala"
        source.write_text(own + world, encoding="utf-8")
        sources.append(str(source))
    classes = folder / "classes"
    classes.mkdir()
    compiler = ["scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", str(classes)]
    # It ends before the second compiler has paid off.
    java(f"{JARS}/*", [*compiler, *sources], "-XX:TieredStopAtLevel=1")
    return classes


def java(path: str, arguments: Sequence[str], *options: str) -> str:
    own = ["-XX:+UseSerialGC", "-Xmx3g", *options]
    command = [str(find_java()), *own, "-cp", path, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def explore(classes: Path, number: int, scenarios: Iterable[Scenario]) -> str:
    """What the search says of each scenario, in turn."""
    library = next(JARS.glob("scala-library*.jar"))
    arguments = [scenario.argument for scenario in scenarios]
    return java(f"{library}:{classes}", [f"explored{number}.Explore", *arguments])


def check(classes: Path, scenarios: Mapping[str, Scenario]) -> None:
    """All worlds are explored; there are many, and in some a continuing job is idle."""
    lines = explore(classes, 0, scenarios.values()).splitlines()
    for (name, scenario), said in zip(scenarios.items(), lines, strict=True):
        found = re.fullmatch(r"(\d+) worlds, (\d+) at rest", said)
        assert found is not None, (name, said)
        worlds, rest = map(int, found.groups())
        assert worlds > 1000 and (rest > 0) == (scenario.caught_up == 0), (name, said)


def check_planted(classes: Path, names: Sequence[str]) -> None:
    """Each of these faults is found in its copy of the protocol."""
    said = {
        name: explore(classes, number, [PLANTED[name].scenario])
        for number, name in enumerate(names)
    }
    assert [(name, found) for name, found in said.items() if PLANTED[name].found not in found] == []


def with_fault(name: str) -> str:
    text = protocol()
    for old, new in PLANTED[name].replaced.items():
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    return text


def protocol() -> str:
    return kernel_sources()["gate/Protocol.scala"].decode()


def test_nothing_goes_wrong_in_any_order(tmp_path: Path) -> None:
    check(compiled(tmp_path, [protocol()]), SCENARIOS)


@pytest.mark.long
def test_nothing_goes_wrong_in_any_order_of_more(tmp_path: Path) -> None:
    check(compiled(tmp_path, [protocol()]), LONG)


@pytest.mark.long
def test_planted_faults_are_found(tmp_path: Path) -> None:
    check_planted(compiled(tmp_path, [*map(with_fault, PLANTED)]), [*PLANTED])
