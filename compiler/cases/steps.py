"""The steps of a test."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Names

from ...dsl import codes
from ...dsl.yaml_nodes import Mapping, Node, Scalar, Sequence
from ...dsl.yaml_told import described
from ..model.pipeline import Pipeline, Source, Table
from ..model.programs import Operator
from .expectations import read_expect
from .model import (
    Advance,
    Column,
    Crash,
    Drain,
    Expect,
    Fill,
    Placed,
    Restart,
    Rollback,
    Rows,
    Step,
)
from .rows import Lines, read_rows
from .state import read_state
from .told import Teller
from .values import instant_micros
from .ways import BATCHES

_WORDS = ("drain", "restart", "crash", "rollback")
_KEYS = ("advance", "expect", "state")
_LATER = ("savepoint", "upgrade")


class StepReader:
    """Reads the steps of tests of one pipeline."""

    def __init__(
        self, pipeline: Pipeline, variables: Names[str, str | None], teller: Teller
    ) -> None:
        """``variables`` are the values that options are filled with, None where they have none."""
        self._teller = teller
        self._sources = {source.name: source for source in pipeline.sources}
        self._tables = {table.name: table for table in pipeline.tables}
        given: list[Source | Table] = [*pipeline.sources, *pipeline.tables]
        self._lines = {one.name: Lines.of(one, variables) for one in given}
        schemas = {source.name: source.schema for source in pipeline.sources}
        schemas |= {relation.name: relation.schema for relation in pipeline.relations}
        self._sinks = {
            sink.name: tuple(Column(f.name, f.type) for f in schemas[sink.relation])
            for sink in pipeline.sinks
        }

        steps = [step for relation in pipeline.relations for step in relation.steps]
        declared = (step for step in steps if isinstance(step, Operator) and step.declared)
        self._operators = {step.id: step for step in declared}

    def read(self, node: Node) -> tuple[Placed, ...]:
        """Return the steps of a list; mistakes are told."""
        if not isinstance(node, Sequence):
            self._teller.form(f"`steps` is {described(node)}, not a list", node)
            return ()
        found: list[Placed] = []
        drained = begun = False
        for number, item in enumerate(node, 1):
            for step in self._item(item, found):
                moves = isinstance(step, BATCHES)
                if drained and moves:
                    self._after_drain(item)
                if begun and isinstance(step, Fill):
                    self._read_once(step, item)
                drained = drained or isinstance(step, Drain)
                begun = (begun or moves) and not isinstance(step, Restart)
                found.append(Placed(step, number))
        return tuple(found)

    def _item(self, node: Node, before: list[Placed]) -> Iterator[Step]:
        match node:
            case Scalar(text="crash"):
                yield from self._crash(node, before)
            case Scalar(text="rollback"):
                yield from self._rollback(node, 1, before)
            case Mapping() if (count := self._count(node)) is not None:
                yield from self._rollback_by(node, count, before)
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
        """Yield the steps of one item: tables, rows together, what it advances, what it expects."""
        lines: dict[str, tuple[str, ...]] = {}
        for key, value in node:
            if key.text in self._lines:
                lines[key.text] = read_rows(value, self._lines[key.text], self._teller)
            elif key.text not in _KEYS:
                self._unknown_step(key)
        if tables := {name: rows for name, rows in lines.items() if name in self._tables}:
            yield Fill(tables)
        if rows := {name: rows for name, rows in lines.items() if name in self._sources}:
            yield Rows(rows)
        if (advance := node.get("advance")) is not None:
            yield Advance(self._instants(advance))
        if (expect := node.get("expect")) is not None:
            yield from self._expects(expect)
        if "state" not in self._lines and (state := node.get("state")) is not None:
            yield from self._states(state)

    def tell_unset(self, node: Node) -> None:
        """Tell of variables without a value that the parsing of a source's rows needs."""
        for name, lines in self._lines.items():
            for option, variable in lines.unset:
                self._teller.form(
                    f"`{option}` of `{name}` needs the variable `{variable}`, which has no value",
                    node,
                    f"give it one: `variables: {{{variable}: …}}`",
                )

    def tell_metadata(self, node: Node) -> None:
        """Tell of columns that only a connector which is replaced here could fill."""
        for name, source in self._sources.items():
            if source.metadata and source.endpoint.connector != "files":
                self._teller.tell(
                    codes.NOT_BUILT,
                    f"tests can't give the METADATA columns of `{name}` yet",
                    node.span,
                )

    def first_lines(self) -> dict[str, tuple[str, ...]]:
        """Return the lines that every file of a source or table begins with, if any."""
        return {name: lines.first for name, lines in self._lines.items() if lines.first}

    def _instants(self, node: Node) -> dict[str, int]:
        found: dict[str, int] = {}
        if not isinstance(node, Mapping):
            self._teller.form(
                f"`advance` is {described(node)}, not a mapping of sources to instants", node
            )
            return found
        for key, value in node:
            source = self._sources.get(key.text)
            if source is None:
                self._teller.unknown("source", key, self._sources, codes.TEST_NAME)
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
            if key.text not in self._sinks:
                self._teller.unknown("sink", key, self._sinks, codes.TEST_NAME)
                continue
            found = read_expect(key.text, self._sinks[key.text], value, self._teller)
            if found is not None:
                yield found

    def _states(self, node: Node) -> Iterator[Expect]:
        if not isinstance(node, Mapping):
            self._teller.form(
                f"`state` is {described(node)}, not a mapping of operators to rows", node
            )
            return
        for key, value in node:
            if key.text not in self._operators:
                self._teller.unknown("operator", key, self._operators, codes.TEST_NAME)
                continue
            found = read_state(self._operators[key.text], value, self._teller)
            if found is not None:
                yield found

    def _crash(self, node: Node, before: list[Placed]) -> Iterator[Step]:
        """Yield a crash; there must be a batch that it hits, and has not been hit by another."""
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

    def _count(self, node: Mapping) -> Node | None:
        """Return how many batches an item undoes, if it does; a source may be called that, too."""
        return None if "rollback" in self._lines else node.get("rollback")

    def _rollback_by(self, node: Mapping, count: Node, before: list[Placed]) -> Iterator[Step]:
        if len(node.entries) > 1:
            self._teller.form("`rollback` shares an item with other steps", node, "give it its own")
        text = count.text if isinstance(count, Scalar) else ""
        if text.isascii() and text.isdigit() and int(text) > 0:
            yield from self._rollback(count, int(text), before)
        else:
            message = f"`rollback` is {described(count)}, not a number of batches"
            self._teller.form(message, count, "write `rollback: 2`")

    def _rollback(self, node: Node, count: int, before: list[Placed]) -> Iterator[Step]:
        """Yield a rollback by so many batches, as they are written."""
        batches = [placed.number for placed in before if isinstance(placed.step, BATCHES)]
        if count <= len(batches):
            yield Rollback(batches[-count])
            return
        there = {0: "there is none", 1: "there is one"}.get(
            len(batches), f"there are {len(batches)}"
        )
        plural = "batch" if count == 1 else "batches"
        self._teller.tell(
            codes.TEST_ORDER,
            f"`rollback` undoes {count} {plural}, and {there} before it",
            node.span,
            "put it behind the rows, `advance` or `drain` that it undoes",
        )

    def _unknown_step(self, word: Scalar) -> None:
        if word.text in _LATER:
            self._teller.tell(
                codes.NOT_BUILT,
                f"`{word.text}` is a step that comes later, with savepoints",
                word.span,
                "leave the step out; `rollback` undoes batches, `restart` goes on from the last",
            )
            return
        known = (*self._lines, *_KEYS, *_WORDS)
        self._teller.unknown("source and no step", word, known, codes.TEST_NAME)

    def _read_once(self, step: Fill, node: Node) -> None:
        for name in step.lines:
            if self._tables[name].refresh is None:
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
