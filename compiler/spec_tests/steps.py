"""The steps of a test."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Names
from itertools import zip_longest

from ...dsl.reports import codes
from ...dsl.yaml.diagnostics import described
from ...dsl.yaml.nodes import Mapping, Node, Scalar, Sequence
from .diagnostics import Teller
from .expectations import read_expect
from .model import (
    Advance,
    Crash,
    Drain,
    Expect,
    Fill,
    Placed,
    Restart,
    Rollback,
    Rows,
    Save,
    Step,
    Upgrade,
)
from .names import SpecNames
from .rows import read_rows
from .state import read_state
from .upgrades import UpgradeReader, Version
from .values import instant_micros
from .ways import BATCHES

_WORDS = ("drain", "restart", "crash", "rollback")
_KEYS = ("advance", "expect", "state")
_WITH_VALUE = ("savepoint", "upgrade")


class StepReader:
    """Reads the steps of tests of one pipeline."""

    def __init__(
        self,
        version: Version,
        variables: Names[str, str],
        profile: str | None,
        upgrades: UpgradeReader,
        teller: Teller,
    ) -> None:
        """``variables`` and ``profile`` are those set by the test."""
        self._version = version
        self._variables = variables
        self._profile = profile
        self._upgrades = upgrades
        self._teller = teller
        self.names = self._names_of(version)

    def _names_of(self, version: Version) -> SpecNames:
        declared = version.pipeline.settings.variables
        given = {name: value for name, value in self._variables.items() if name in declared}
        return SpecNames(version.pipeline, given, self._profile)

    def read(self, node: Node) -> tuple[Placed, ...]:
        """Return the steps of a list; mistakes are reported."""
        if not isinstance(node, Sequence):
            self._teller.form(f"`steps` is {described(node)}, not a list", node)
            return ()
        found: list[Placed] = []
        told = self._teller.told
        drained = begun = False
        for number, item in enumerate(node, 1):
            for step in self._item(item, found):
                moves = isinstance(step, BATCHES)
                if drained and moves:
                    self._after_drain(item)
                if begun and isinstance(step, Fill):
                    self._read_once(step, item)
                drained = drained or isinstance(step, Drain)
                begun = (begun or moves) and not isinstance(step, (Restart, Upgrade))
                found.append(Placed(step, number))
        if self._teller.told == told:
            for placed in _unused_savepoints(found):
                self._unused(node.items[placed.number - 1])
        return tuple(found)

    def _item(self, node: Node, before: list[Placed]) -> Iterator[Step]:
        match node:
            case Scalar(text="crash"):
                yield from self._crash(node, before)
            case Scalar(text="rollback"):
                yield from self._rollback(node, 1, before)
            case Mapping() if (count := self._count(node)) is not None:
                yield from self._rollback_by(node, count, before)
            case Mapping() if self._is_step(node, "savepoint"):
                yield from self._save(node, before)
            case Mapping() if self._is_step(node, "upgrade"):
                yield from self._upgrade(node, before)
            case Scalar(text="drain"):
                yield Drain()
            case Scalar(text="restart"):
                yield Restart()
            case Scalar():
                self._unknown_step(node)
            case Mapping():
                yield from self._map(node)
            case Sequence():
                self._teller.form(
                    "a step is a list, not a mapping", node, "write `- payments: […]`"
                )

    def _map(self, node: Mapping) -> Iterator[Step]:
        """Yield the steps of one item: tables, merged rows, advances, expectations."""
        lines: dict[str, tuple[str, ...]] = {}
        for key, value in node:
            if key.text in self.names.lines:
                lines[key.text] = read_rows(value, self.names.lines[key.text], self._teller)
            elif key.text not in _KEYS:
                self._unknown_step(key)
        if tables := {name: rows for name, rows in lines.items() if name in self.names.tables}:
            yield Fill(tables)
        if rows := {name: rows for name, rows in lines.items() if name in self.names.sources}:
            yield Rows(rows)
        if (advance := node.get("advance")) is not None:
            yield Advance(self._instants(advance))
        if (expect := node.get("expect")) is not None:
            yield from self._expects(expect)
        if "state" not in self.names.lines and (state := node.get("state")) is not None:
            yield from self._states(state)

    def _instants(self, node: Node) -> dict[str, int]:
        found: dict[str, int] = {}
        if not isinstance(node, Mapping):
            self._teller.form(
                f"`advance` is {described(node)}, not a mapping of sources to instants", node
            )
            return found
        for key, value in node:
            source = self.names.sources.get(key.text)
            if source is None:
                self._teller.unknown("source", key, self.names.sources, codes.TEST_NAME)
            elif source.watermark is None:
                self._teller.form(f"`{key.text}` has no watermark that could advance", key)
            else:
                try:
                    text = value.text if isinstance(value, Scalar) else ""
                    found[key.text] = instant_micros(text)
                except (ValueError, OverflowError):
                    message = f"{described(value)} is no instant"
                    self._teller.tell(
                        codes.TEST_VALUE, message, value.span, "write 2026-01-31T10:00:00Z"
                    )
        return found

    def _expects(self, node: Node) -> Iterator[Expect]:
        if not isinstance(node, Mapping):
            self._teller.form(
                f"`expect` is {described(node)}, not a mapping of sinks to rows", node
            )
            return
        for key, value in node:
            if key.text not in self.names.sinks:
                self._teller.unknown("sink", key, self.names.sinks, codes.TEST_NAME)
                continue
            found = read_expect(key.text, self.names.sinks[key.text], value, self._teller)
            if found is not None:
                yield found

    def _states(self, node: Node) -> Iterator[Expect]:
        if not isinstance(node, Mapping):
            self._teller.form(
                f"`state` is {described(node)}, not a mapping of operators to rows", node
            )
            return
        for key, value in node:
            if key.text not in self.names.operators:
                self._teller.unknown("operator", key, self.names.operators, codes.TEST_NAME)
                continue
            found = read_state(self.names.operators[key.text], value, self._teller)
            if found is not None:
                yield found

    def _crash(self, node: Node, before: list[Placed]) -> Iterator[Step]:
        """Yield a crash; there must be a batch before it that no other crash has hit."""
        last = next((p.step for p in reversed(before) if not isinstance(p.step, Expect)), None)
        if isinstance(last, BATCHES):
            yield Crash()
            return
        self._teller.tell(
            codes.TEST_ORDER,
            "`crash` has no batch before it",
            node.span,
            "put it behind rows, `advance` or `drain`; only `expect` may stand between",
        )

    def _is_step(self, node: Mapping, word: str) -> bool:
        """Whether an item is this step; a source may have that name, too."""
        return word not in self.names.lines and node.get(word) is not None

    def _save(self, node: Mapping, before: list[Placed]) -> Iterator[Step]:
        """Yield a savepoint; there must be a batch before it."""
        self._alone(node, "savepoint")
        name = node.get("savepoint")
        if not isinstance(name, Scalar) or not name.text:
            self._teller.form("`savepoint` has no name", node, "write `savepoint: before`")
        elif not any(isinstance(placed.step, BATCHES) for placed in _since_upgrade(before)):
            message = "`savepoint` has no batch before it: there is no state yet"
            self._teller.tell(codes.TEST_ORDER, message, node.span, "put it behind rows")
        else:
            yield Save()

    def _upgrade(self, node: Mapping, before: list[Placed]) -> Iterator[Step]:
        """Yield an upgrade, which follows its savepoint and whose names apply from here on."""
        self._alone(node, "upgrade")
        last = next((p.step for p in reversed(before) if not isinstance(p.step, Expect)), None)
        if not isinstance(last, Save):
            self._teller.tell(
                codes.TEST_ORDER,
                "`upgrade` has no `savepoint` right before it",
                node.span,
                "put `- savepoint: before` before it; only `expect` may stand between",
            )
            return
        upgrade = node.get("upgrade")
        assert upgrade is not None
        found = self._upgrades.read(upgrade, self._version)
        if found is None:
            return
        self._version, migration = found
        settings = self._version.pipeline.settings
        self.names = self._names_of(self._version)
        self.names.tell_unset(upgrade, self._teller)
        self.names.tell_metadata(upgrade, self._teller)
        yield Upgrade(
            spec=self._version.spec.name,
            folder=str(self._version.spec.resolve().parent),
            files=self._version.files,
            migration=migration,
            variables={n: v for n, v in self._variables.items() if n in settings.variables},
            profile=self._profile if self._profile in settings.profiles else None,
            first_lines=self.names.first_lines(),
        )

    def _unused(self, node: Node) -> None:
        self._teller.tell(
            codes.TEST_ORDER,
            "nothing goes on from this `savepoint`",
            node.span,
            "put `- upgrade: ../other.stream` behind it; only `expect` may stand between",
        )

    def _alone(self, node: Mapping, word: str) -> None:
        if len(node.entries) > 1:
            self._teller.form(f"`{word}` shares an item with other steps", node, "give it its own")

    def _count(self, node: Mapping) -> Node | None:
        """Return how many batches an item undoes, if any; a source may have that name, too."""
        return None if "rollback" in self.names.lines else node.get("rollback")

    def _rollback_by(self, node: Mapping, count: Node, before: list[Placed]) -> Iterator[Step]:
        self._alone(node, "rollback")
        text = count.text if isinstance(count, Scalar) else ""
        if text.isascii() and text.isdigit() and int(text) > 0:
            yield from self._rollback(count, int(text), before)
        else:
            message = f"`rollback` is {described(count)}, not a number of batches"
            self._teller.form(message, count, "write `rollback: 2`")

    def _rollback(self, node: Node, count: int, before: list[Placed]) -> Iterator[Step]:
        """Yield a rollback by this number of batches, counted as written."""
        since = _since_upgrade(before)
        batches = [placed.number for placed in since if isinstance(placed.step, BATCHES)]
        if count <= len(batches):
            yield Rollback(batches[-count])
            return
        there = {0: "there is none", 1: "there is one"}.get(
            len(batches), f"there are {len(batches)}"
        )
        plural = "batch" if count == 1 else "batches"
        self._teller.tell(
            codes.TEST_ORDER,
            f"`rollback` undoes {count} {plural}, and {there} before it{_behind(since, before)}",
            node.span,
            "put it behind the rows, `advance` or `drain` that it undoes",
        )

    def _unknown_step(self, word: Scalar) -> None:
        if word.text in _WITH_VALUE:
            what = {"savepoint": "a name", "upgrade": "the path of a spec"}[word.text]
            self._teller.form(f"`{word.text}` wants {what}", word, f"write `- {word.text}: …`")
            return
        known = (*self.names.lines, *_KEYS, *_WORDS, *_WITH_VALUE)
        self._teller.unknown("source and no step", word, known, codes.TEST_NAME)

    def _read_once(self, step: Fill, node: Node) -> None:
        for name in step.lines:
            if self.names.tables[name].refresh is None:
                self._teller.tell(
                    codes.TEST_ORDER,
                    f"`{name}` is read once a run, and a batch has run already",
                    node.span,
                    "give its rows before the first batch or after a restart; or declare "
                    "`refresh` in the spec",
                )

    def _after_drain(self, node: Node) -> None:
        self._teller.tell(
            codes.TEST_ORDER,
            "nothing can come after `drain`: every row would be late",
            node.span,
            "drain at the end, and begin another test",
        )


def _unused_savepoints(steps: list[Placed]) -> Iterator[Placed]:
    """Yield the savepoints not followed by an upgrade."""
    others = [placed for placed in steps if not isinstance(placed.step, Expect)]
    for placed, after in zip_longest(others, others[1:]):
        if isinstance(placed.step, Save) and not (after and isinstance(after.step, Upgrade)):
            yield placed


def _since_upgrade(before: list[Placed]) -> list[Placed]:
    """Return the steps of the running version."""
    last = max((n for n, p in enumerate(before) if isinstance(p.step, Upgrade)), default=-1)
    return before[last + 1 :]


def _behind(since: list[Placed], before: list[Placed]) -> str:
    return "" if len(since) == len(before) else " that is behind the upgrade"
