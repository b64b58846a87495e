"""Counters of Spark's plan of a batch, and the identities that they must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...contracts.json_records import Record
from ...contracts.records import dataclass as record

Counts: TypeAlias = dict[str, Any]
"""An entry of a ledger: its kind, and numbers by what they count."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sums of counters that must be the same; with `at_most` the left one may be less."""

    place: str
    left: Mapping[str, int]
    right: Mapping[str, int]
    at_most: bool = False

    @property
    def holds(self) -> bool:
        left, right = sum(self.left.values()), sum(self.right.values())
        return left <= right if self.at_most else left == right

    def __str__(self) -> str:
        sign = "<=" if self.at_most else "="
        return f"{_sum(self.left)} {sign} {_sum(self.right)}"


@record(frozen=True, slots=True)
class OddValue(Record):
    """A number that as an instant is hardly meant: its column, and what it would be."""

    column: str
    number: str
    instant: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of the records of a source: `wanted` are its `good` or its `malformed` ones."""

    read: int
    malformed: int
    blank: int
    wanted: str
    odd: OddValue | None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reading:
        """The reading of a document; of messages it does not say how many were read."""
        return cls(
            read=value.get("read", 0),
            malformed=value.get("malformed", 0),
            blank=value.get("blank", 0),
            wanted=value.get("wanted", "good"),
            odd=_odd(value),
        )


def _odd(value: Mapping[str, Any]) -> OddValue | None:
    return OddValue.from_json(value["odd"]) if value.get("odd") else None


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of a plan as the kernel counts it, see `kernel/ledger/Ledger.scala`.

    `inputs` are the nodes whose rows it gets, a list a side. `counters` has those that Spark has
    for it, `records` and `messages` those of what it reads, with an odd instant if there was one.
    """

    kind: str
    inputs: tuple[tuple[PlanNode, ...], ...]
    counters: Mapping[str, int]
    texts: Mapping[str, str]
    keyed: bool = True
    records: Reading | None = None
    messages: Reading | None = None
    odd: OddValue | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PlanNode:
        """The node of a document; raises LookupError or TypeError for what is none."""
        sides = value.get("from", ())
        return cls(
            kind=value["kind"],
            inputs=tuple(tuple(map(cls.from_json, side)) for side in sides),
            counters={name: one for name, one in value.items() if type(one) is int},
            texts={name: one for name, one in value.items() if type(one) is str},
            keyed=value.get("keyed", True),
            records=_reading(value, "records"),
            messages=_reading(value, "messages"),
            odd=_odd(value),
        )

    @property
    def below(self) -> tuple[PlanNode, ...]:
        """The nodes of all inputs."""
        return tuple(one for side in self.inputs for one in side)

    def count(self, name: str) -> int:
        """A counter; raises LookupError when Spark has none of that name for it."""
        return self.counters[name]

    @property
    def out(self) -> int:
        return self.count("out")

    @property
    def mode(self) -> str | None:
        return self.texts.get("mode")


def _reading(value: Mapping[str, Any], name: str) -> Reading | None:
    return Reading.from_json(value[name]) if name in value else None


@dataclass(frozen=True, slots=True)
class Flow:
    """Rows on their way up: how many, the entries they come from, how many before a grouping."""

    rows: int
    origins: tuple[str, ...]
    ungrouped: int | None = None


FlowOf: TypeAlias = Callable[[Sequence[PlanNode]], Flow]
"""What several nodes give together."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An operator in a batch: its counts, how its state has changed, and what must add up.

    `changes` of None are not known; with `at_most` more may have left its state than Spark counts.
    """

    counts: Counts
    changes: Counts | None = None
    equations: list[Equation] = field(default_factory=list)
    at_most: bool = False


def _sum(terms: Mapping[str, int]) -> str:
    text = " ".join(
        f"{'-' if value < 0 else '+'} {name} {abs(value)}" for name, value in terms.items()
    )
    return text.removeprefix("+ ") or "0"
