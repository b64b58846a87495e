"""The lease on a store without locks, in every order in which the steps of its takers can come.

A process is a function of what its steps have returned. To make its next step, it is run again with
what it knows, up to that step: so all orders are explored without a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from streamc.runtime.state.exchanged_lease import ExchangedLease, Held
from streamc.runtime.state.holders import Holder, held_by, lease_file
from streamc.runtime.storage.file_system import Version, VersionedFiles
from streamc.runtime.storage.notes import seal

SECONDS = 10.0
PATH = lease_file("f")
SLEPT = SECONDS + 5


@dataclass(frozen=True)
class Store:
    """A store with one file; `atomic` is False for one that ignores conditions."""

    file: Version | None
    now: float = 100.0
    atomic: bool = True

    def step(self, what: str, *given: Any) -> tuple[Store, Any]:
        if what == "version":
            return self, self.file
        if what == "clock":
            return self, self.now
        if what == "sleep":
            return replace(self, now=self.now + given[0]), None
        text, expected = given
        standing = None if self.file is None else self.file.token
        if self.atomic and expected != standing:
            return self, False
        token = str(int(standing or 0) + 1)
        return replace(self, file=Version(text, token, self.now)), True


class Paused(BaseException):
    """A process has come to a step that it has not made."""

    def __init__(self, step: tuple[Any, ...]) -> None:
        self.step = step


@dataclass
class Replayed:
    """What a process sees: what its steps have returned, and no more."""

    results: tuple[Any, ...]
    made: int = 0

    def step(self, *step: Any) -> Any:
        if self.made == len(self.results):
            raise Paused(step)
        self.made += 1
        return self.results[self.made - 1]

    def version(self, path: str) -> Version | None:
        assert path == PATH
        return cast("Version | None", self.step("version"))

    def exchange(self, path: str, text: str, expected: str | None) -> bool:
        assert path == PATH
        return bool(self.step("exchange", text, expected))


HOLDERS = [replace(Holder.here(SECONDS), owner=f"p{number}", place=None) for number in range(2)]


@dataclass
class Process:
    """One that takes a lease, is suspended or not, renews it, and may give it back."""

    number: int
    slept: float
    gives_back: bool
    until: float = 0.0
    taken: Holder | None = None
    done: bool = False

    def run(self, steps: Replayed) -> None:
        lease = ExchangedLease(cast(VersionedFiles, steps), "f", lambda: float(steps.step("clock")))
        begun = float(steps.step("clock"))
        taken = lease.take(HOLDERS[self.number])
        if isinstance(taken, Holder):
            self.taken, self.until = taken, begun + SECONDS
            if self.slept:
                steps.step("sleep", self.slept)
            begun = float(steps.step("clock"))
            self.until = begun + SECONDS if lease.renew(taken) is None else 0.0
            if self.gives_back and self.until:
                self.until = 0.0
                lease.release(taken)
        self.done = True


@pytest.fixture(autouse=True)
def one_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note depends on nothing but what its writer knows."""
    monkeypatch.setattr("streamc.runtime.state.exchanged_lease.instant_now", lambda: "now")


def explore(store: Store, slept: tuple[float, float], gives_back: bool = False) -> tuple[int, int]:
    """The worlds that come about, and how many of them are an end where both have had the lease."""
    seen: set[Any] = set()
    both = 0
    work = [(store, ((), ()))]
    while work:
        world = work.pop()
        if world in seen:
            continue
        seen.add(world)
        store, known = world
        processes = []
        for number in (0, 1):
            process = Process(number, slept[number], gives_back)
            processes.append(process)
            try:
                process.run(Replayed(known[number]))
            except Paused as paused:
                after, result = store.step(*paused.step)
                results = list(known)
                results[number] = (*known[number], result)
                work.append((after, cast(Any, tuple(results))))
        sure = [process for process in processes if process.until > store.now]
        assert len(sure) < 2, f"both hold the lease: {known}"
        if all(process.taken for process in processes):
            first, second = (cast(Holder, process.taken) for process in processes)
            assert first.number != second.number, "each taking has a number of its own"
            both += all(process.done for process in processes)
    return len(seen), both


def lease_of(age: float, token: str = "7", **changes: Any) -> Version:
    old = replace(HOLDERS[0], owner="old", number=4, **changes)
    return Version(seal(old.to_json()), token, 100.0 - age)


DAMAGED = replace(lease_of(60), text="{}")
BEGINNINGS = {
    "none": None,
    "expired": lease_of(20),
    "released": lease_of(0, released=True),
    "damaged": DAMAGED,
}


@pytest.mark.parametrize("slept", [(0.0, 0.0), (SLEPT, 0.0), (SLEPT, SLEPT)])
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_two_takers_in_any_order(beginning: str, slept: tuple[float, float]) -> None:
    worlds, both = explore(Store(BEGINNINGS[beginning]), slept)
    assert worlds > 50
    assert bool(both) == any(slept), "another has it only once it has expired"


def test_two_takers_that_give_back() -> None:
    worlds, both = explore(Store(None), (0.0, 0.0), gives_back=True)
    assert worlds > 50
    assert both, "what was given back is free at once"


def test_the_search_finds_what_is_wrong() -> None:
    """On a store that takes conditions and does not heed them, both have the lease."""
    with pytest.raises(AssertionError, match="both hold the lease"):
        explore(Store(None, atomic=False), (0.0, 0.0))


@dataclass
class Alone:
    """The store of one process, which may lose what is answered to it."""

    store: Store
    loses: bool = False

    def version(self, path: str) -> Version | None:
        return self.store.file

    def exchange(self, path: str, text: str, expected: str | None) -> bool:
        self.store, done = self.store.step("exchange", text, expected)
        if self.loses:
            self.loses = False
            raise OSError("no answer")
        return bool(done)


def alone(file: Version | None) -> tuple[Alone, ExchangedLease]:
    store = Alone(Store(file))
    clock: Callable[[], float] = lambda: store.store.now  # noqa: E731
    return store, ExchangedLease(cast(VersionedFiles, store), "f", clock)


def test_a_living_holder_keeps_it() -> None:
    _, lease = alone(lease_of(SECONDS + 0.9))
    found = lease.take(HOLDERS[1])
    assert isinstance(found, Held) and found.holder is not None
    assert found.holder.owner == "old"
    assert found.left == pytest.approx(0.1)


@pytest.mark.parametrize(("beginning", "number"), [("none", 1), ("expired", 5), ("released", 5)])
def test_the_number_grows_with_each_taking(beginning: str, number: int) -> None:
    store, lease = alone(BEGINNINGS[beginning])
    for more in range(3):
        taken = lease.take(HOLDERS[1])
        assert isinstance(taken, Holder) and taken.number == number + more
        assert lease.renew(taken) is None
        lease.release(taken)
    assert store.store.file is not None
    assert held_by(store.store.file.text, PATH).released


def test_a_damaged_lease_is_followed_by_a_greater_number() -> None:
    _, lease = alone(DAMAGED)
    taken = lease.take(HOLDERS[1])
    assert isinstance(taken, Holder) and taken.number == 40_000


def test_a_renewal_whose_answer_was_lost_is_known_again() -> None:
    store, lease = alone(None)
    taken = lease.take(HOLDERS[1])
    assert isinstance(taken, Holder)
    store.loses = True
    with pytest.raises(OSError, match="no answer"):
        lease.renew(taken)
    assert lease.renew(taken) is None


def test_a_lease_that_another_has_is_neither_renewed_nor_given_back() -> None:
    store, lease = alone(None)
    taken = lease.take(HOLDERS[1])
    assert isinstance(taken, Holder)
    other = lease_of(0, token="9")
    store.store = replace(store.store, file=other)
    lost = lease.renew(taken)
    assert lost is not None and lost.holder is not None and lost.holder.owner == "old"
    lease.release(taken)
    assert store.store.file == other
