"""Connectors: both sides have the same ones, complete, and nothing else depends on which it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled_text
from streamc.compiler.connectors import registry as compiled_by
from streamc.contracts.plan import Plan
from streamc.contracts.readers import READERS
from streamc.contracts.sinks import SINKS
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.connectors import interface
from streamc.runtime.connectors import registry as run_by
from streamc.runtime.connectors.discard import DiscardSink
from streamc.runtime.connectors.sinks import make_sink

ROOT = Path(__file__).parent.parent
GUARANTEES = ("exactly once", "effectively once", "at least once")
RUN_BY = {one.name: one for one in run_by.CONNECTORS}


@pytest.mark.parametrize("name", SINKS)
def test_a_sink_says_what_it_promises(name: str) -> None:
    assert SINKS[name].delivery.startswith(GUARANTEES)


def test_every_promise_has_a_sink() -> None:
    assert compiled_by.SINKS.keys() == run_by.SINKS.keys() == SINKS.keys()


def test_what_is_read_is_known_to_both_sides() -> None:
    assert {*compiled_by.SOURCES, *compiled_by.TABLES} == READERS.keys()


def test_both_sides_have_the_same_connectors() -> None:
    def roles(one: Any) -> tuple[str, list[bool]]:
        return one.name, [role is not None for role in (one.source, one.table, one.sink)]

    assert list(map(roles, run_by.CONNECTORS)) == list(map(roles, compiled_by.CONNECTORS))


def parts() -> Iterator[tuple[type, str]]:
    """Yield each class that a connector is made of, with each part that it must have."""
    for one in run_by.CONNECTORS:
        made: list[Any] = [one, *(r for r in (one.source, one.table, one.sink) if r is not None)]
        if one.source is not None and one.source.replay is not None:
            made.append(one.source.replay)
            if one.source.replay.batches is not None:
                made.append(one.source.replay.batches)
        classes = [type(part) for part in made]
        for cls in classes if one.sink is None else [*classes, one.sink.writer]:
            assert isinstance(cls, type)
            bases = [base for base in cls.__mro__ if base.__module__ == interface.__name__]
            needed = {part for base in bases for part in vars(base).get("__abstractmethods__", ())}
            for part in sorted(needed):
                yield cls, part


@pytest.mark.parametrize(
    ("cls", "part"), [*parts()], ids=lambda one: one if isinstance(one, str) else one.__name__
)
def test_a_connector_that_leaves_a_part_out_cannot_be_made(cls: type, part: str) -> None:
    (base,) = [
        base for base in cls.__mro__ if getattr(vars(base).get(part), "__isabstractmethod__", False)
    ][-1:]
    partial = type("Partial", (cls,), {part: vars(base)[part]})
    assert isabstract(partial)
    with pytest.raises(TypeError, match=part):
        partial.__new__(partial)


def test_a_sink_that_leaves_a_part_out_is_not_registered() -> None:
    class NotCounting(DiscardSink):
        write = interface.Sink.write

    class Role(type(RUN_BY["discard"].sink)):  # type: ignore[misc]
        writer = NotCounting

    class Connector(type(RUN_BY["discard"])):  # type: ignore[misc]
        sink = Role()

    with pytest.raises(TypeError, match="connector discard lacks write"):
        run_by.checked(Connector())


def names_one(node: ast.Compare) -> bool:
    """Return whether the name of a connector is among what is compared."""
    sides = [side for one in (node.left, *node.comparators) for side in ast.walk(one)]
    return any(isinstance(one, ast.Constant) and one.value in RUN_BY for one in sides)


def asked_by_name(path: Path) -> Iterator[str]:
    """Yield each place of a module that compares a connector with a name, or lists several."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in RUN_BY):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Compare | ast.Dict | ast.Tuple | ast.List | ast.Set):
            continue
        shown = f"{path.relative_to(ROOT)}:{node.lineno}"
        if isinstance(node, ast.Compare) and names_one(node) and "connector" in ast.unparse(node):
            yield shown
        if isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set):
            listed = node.keys if isinstance(node, ast.Dict) else node.elts
            names = [one.value for one in listed if isinstance(one, ast.Constant)]
            if len({name for name in names if isinstance(name, str)} & RUN_BY.keys()) > 1:
                yield shown


@pytest.mark.slow
@pytest.mark.parametrize("side", ["compiler", "runtime", "cli", "dsl"])
def test_no_other_place_asks_which_connector_it_is(side: str) -> None:
    own = ROOT / side / "connectors"
    others = [path for path in sorted((ROOT / side).rglob("*.py")) if own not in path.parents]
    assert [place for path in others for place in asked_by_name(path)] == []


SPEC = """\
---
pipeline: packaged
---
CREATE SOURCE events (id INT)
WITH (connector = 'kafka', bootstrap_servers = 'b:1', topic = 't', format = 'json');
CREATE TABLE names (id INT, name STRING) WITH (connector = 'files', path = 'n', format = '@table@');
CREATE STREAM named AS SELECT e.id, n.name FROM events AS e LEFT JOIN names AS n ON n.id = e.id;
CREATE SINK avro_out FROM named WITH (connector = 'files', path = 'o', format = '@sink@');
CREATE SINK topic_out FROM named
WITH (connector = 'kafka', bootstrap_servers = 'b:1', topic = 'o', format = 'json');
"""


def plan(**formats: str) -> Plan:
    text = SPEC
    for name, format_ in formats.items():
        text = text.replace(f"@{name}@", format_)
    found = compiled_text(text, "packaged.stream").plan
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("table", "sink", "parts"),
    [
        ("json", "json", ["kafka"]),
        ("json", "avro", ["kafka", "avro"]),
        ("avro", "json", ["kafka", "avro"]),
    ],
)
def test_what_spark_lacks_for_a_plan_is_named_once(table: str, sink: str, parts: list[str]) -> None:
    found = run_by.packages_of(plan(table=table, sink=sink))
    assert [package.part for package in found] == parts


@pytest.mark.parametrize(
    ("connector", "options", "told"),
    [
        ("discard", {"rows": 3}, "sink `s` has no option `rows`"),
        ("console", {"key": ("id",)}, "sink `s` has no option `key`"),
        ("console", {"key": ("id",), "mode": "upsert"}, "connector `console` can't do"),
        ("discarded", {}, "sink `s` has connector `discarded`"),
    ],
)
def test_a_script_that_asks_too_much(connector: str, options: dict[str, Any], told: str) -> None:
    context: Any = {"query": "q", "state": None, "keep": 1, "show": print, "folders": ()}
    with pytest.raises(RuntimeFault, match=told):
        make_sink("s", connector, options, **context)
