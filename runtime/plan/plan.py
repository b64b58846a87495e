"""The plan beside a script: what the compiler promises of operators, state and queries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base.errors import PLAN_MISSING, PLAN_UNREADABLE, RuntimeFault
from .meaning import Meaning, meaning_of

FORMAT = 1
PROGRAM = "operator"
"""The kind of a stateful operator that is a keyed program."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column or key; a type of None was not known to the compiler and matches any."""

    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class Cell(Column):
    """A cell of a program: a value, which begins as `default` says in SQL; map, set or list."""

    kind: str = "value"
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate function of an operator and the types of its buffers, in Spark's order.

    `ids` are those of its cells.
    """

    id: str
    function: str
    cells: tuple[Column, ...]
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """A stateful operator: its kind, keys, and what an aggregate may keep.

    `window` is the kind of its window (tumble, hop, session) or None. A program has cells and
    timers, `by_clock` if any of them is of processing time; its rows wait if it is `ordered`.
    """

    id: str
    kind: str
    keys: tuple[Column, ...]
    window: str | None
    aggregates: tuple[Aggregate, ...]
    cells: tuple[Cell, ...] = ()
    timers: tuple[str, ...] = ()
    by_clock: bool = False
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """A stateful operator inside one query: the aggregates (or join columns) alive there."""

    operator: Operator
    aggregates: tuple[Aggregate, ...]
    sides: tuple[tuple[Column, ...], ...]
    side_keys: tuple[tuple[Column, ...], ...]


@dataclass(frozen=True, slots=True)
class Query:
    """One Spark query: a relation, the sinks it feeds, its stateful operators from the sink up."""

    id: str
    output_mode: str
    sinks: tuple[str, ...]
    sources: tuple[str, ...]
    uses: tuple[Use, ...]
    meaning: Meaning = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """The front matter's settings; a profile is one with only what it changes."""

    state: str | None = None
    trigger: str | None = None
    state_backend: str | None = None
    max_epochs_in_flight: int | None = None
    variables: Mapping[str, str | None] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The policy of barriers: how often, how many are kept, and which failures are no failure.

    A barrier that is not complete after ``timeout`` is given up; ``tolerate`` in a row may be.
    """

    every: str
    retain: int
    timeout: str = "10 minutes"
    tolerate: int = 3


@dataclass(frozen=True, slots=True)
class SinkEnd:
    """What a sink writes to, and whether it replaces rows."""

    connector: str
    upserts: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What the compiler knows of a pipeline and the runtime has to keep.

    `document` is all that the compiler wrote, `spec_text` the spec that it was made from: None
    where that did not come along.
    """

    pipeline: str
    version: int
    description: str
    settings: Settings
    profiles: Mapping[str, Settings]
    checkpoint: Checkpoint
    sources: tuple[str, ...]
    queries: tuple[Query, ...]
    sinks: tuple[str, ...]
    parts: frozenset[str] = frozenset()
    functions: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    sink_ends: Mapping[str, SinkEnd] = field(default_factory=dict)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)
    spec_text: str | None = field(default=None, repr=False)

    @property
    def has_programs(self) -> bool:
        """Whether it has keyed programs, whose state Spark keeps in RocksDB only."""
        return any(operator.kind == PROGRAM for operator in self.operators.values())


def plan_path(script: Path) -> Path:
    """`build/card_fraud.plan.json` for `build/card_fraud.py`."""
    return script.with_suffix(".plan.json")


def load_plan(path: Path) -> Plan:
    """Reads a plan and the spec's text beside it.

    Raises RuntimeFault when the plan is missing, corrupt or of another format.
    """
    text = _text(path)
    if text is None:
        raise RuntimeFault(
            PLAN_MISSING,
            f"there is no {path}",
            "compile the spec again, and keep both files",
        )
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unreadable(path, f"line {error.lineno} is no JSON") from None
    try:
        plan = read_plan(data if isinstance(data, dict) else {})
    except ValueError as error:
        raise _unreadable(path, str(error)) from None
    return replace(plan, spec_text=_text(path.with_suffix("").with_suffix(".spec")))


def _text(path: Path) -> str | None:
    """What is in a file, None if there is none; raises RuntimeFault when it cannot be read."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from None


def read_plan(document: Mapping[str, Any]) -> Plan:
    """The plan of a document; raises ValueError when it is none of this format."""
    if document.get("format") != FORMAT:
        raise ValueError(f"its format is {document.get('format')!r}, this runtime reads {FORMAT}")
    try:
        return _plan(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__} {error}") from None


def _unreadable(path: Path, reason: str) -> RuntimeFault:
    return RuntimeFault(
        PLAN_UNREADABLE, f"{path} cannot be read: {reason}", "compile the spec again"
    )


def _plan(data: Mapping[str, Any]) -> Plan:
    operators = {id: _operator(id, o) for id, o in data["operators"].items()}
    sides = {
        id: tuple(_columns(side["keys"]) for side in o.get("sides", ()))
        for id, o in data["operators"].items()
    }
    return Plan(
        pipeline=data["pipeline"],
        version=int(data.get("version", 1)),
        description=data.get("description") or "",
        settings=_settings(data["settings"]),
        profiles={n: _settings(p) for n, p in (data["settings"].get("profiles") or {}).items()},
        checkpoint=_checkpoint(data["checkpoint"]),
        sources=tuple(data["sources"]),
        queries=tuple(
            _query(id, q, operators, sides, meaning_of(q, data["operators"]))
            for id, q in data["queries"].items()
        ),
        sinks=tuple(data["sinks"]),
        parts=frozenset(
            str(part)
            for end in (*data["sources"].values(), *data["sinks"].values())
            for part in (end["connector"], end["options"].get("format"))
        ),
        functions=tuple(data.get("functions", ())),
        tables=tuple(data.get("tables", ())),
        sink_ends={
            name: SinkEnd(end["connector"], end.get("mode") == "upsert")
            for name, end in data["sinks"].items()
        },
        operators=operators,
        document=data,
    )


def _checkpoint(data: Mapping[str, Any]) -> Checkpoint:
    given = {key: data[key] for key in ("every", "retain", "timeout", "tolerate") if key in data}
    return Checkpoint(**given)


def _settings(data: Mapping[str, Any]) -> Settings:
    return Settings(
        state=data.get("state"),
        trigger=data.get("trigger"),
        state_backend=data.get("state_backend"),
        max_epochs_in_flight=data.get("max_epochs_in_flight"),
        variables={
            name: None if value is None else str(value)
            for name, value in (data.get("variables") or {}).items()
        },
        spark={name: _spark_value(value) for name, value in (data.get("spark") or {}).items()},
        allow=frozenset(map(str, data.get("allow") or ())),
    )


def _spark_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _columns(data: Any) -> tuple[Column, ...]:
    return tuple(Column(c["name"], c.get("type")) for c in data)


def _operator(id: str, data: Mapping[str, Any]) -> Operator:
    window = data.get("window")
    return Operator(
        id=id,
        kind=data["kind"],
        keys=_columns(data.get("keys", ())),
        window=window["kind"] if window else None,
        aggregates=tuple(
            Aggregate(
                a["id"],
                a["function"],
                tuple(Column(c.get("buffer") or c["id"], c.get("type")) for c in a["cells"]),
                tuple(c["id"] for c in a["cells"]),
            )
            for a in data.get("aggregates", ())
        ),
        cells=tuple(
            Cell(cell["id"], cell["type"], cell["kind"], cell["default"])
            for cell in data.get("cells", ())
        ),
        timers=tuple(timer["id"] for timer in data.get("timers", ())),
        by_clock=any(timer["time"] == "processing" for timer in data.get("timers", ())),
        ordered=bool(data.get("ordered", False)),
    )


def _query(
    id: str,
    data: Mapping[str, Any],
    operators: Mapping[str, Operator],
    side_keys: Mapping[str, tuple[tuple[Column, ...], ...]],
    meaning: Meaning,
) -> Query:
    return Query(
        id=id,
        output_mode=data["output_mode"],
        sinks=tuple(data["sinks"]),
        sources=tuple(data["sources"]),
        uses=tuple(_use(u, operators[u["id"]], side_keys[u["id"]]) for u in data["operators"]),
        meaning=meaning,
    )


def _use(
    data: Mapping[str, Any],
    operator: Operator,
    side_keys: tuple[tuple[Column, ...], ...],
) -> Use:
    known = {a.id: a for a in operator.aggregates}
    return Use(
        operator=operator,
        aggregates=tuple(known[id] for id in data.get("aggregates", ())),
        sides=tuple(_columns(side) for side in data.get("columns", ())),
        side_keys=side_keys,
    )
