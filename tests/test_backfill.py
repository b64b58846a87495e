"""Backfills without Spark: what is rejected, which files are reread, in how many steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_run import Run, run
from compiled import compiled_text
from streamc.contracts.migration import Migration, OperatorChange
from streamc.contracts.plan import Plan, Query
from streamc.contracts.savepoint import SavedQuery, Savepoint
from streamc.runtime.base.errors import NOT_REPLAYED, RuntimeFault
from streamc.runtime.connectors.files.replay import files_gone, files_read
from streamc.runtime.savepoints.backfill.retained import (
    check_replayed,
    check_whole,
    on_this_disk,
    read_before,
    rows_gone,
    steps,
)
from streamc.runtime.savepoints.migrate.state_mapping import Fit, backfilled_parts
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.notes import seal

__all__ = ["run"]

OLD = """\
---
pipeline: cards
version: 1
---
CREATE SOURCE payments (
  card STRING NOT NULL, v DOUBLE, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT card, window_start, SUM(v) AS total
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE) GROUP BY card, window_start;
CREATE SINK out FROM spend WITH (connector = 'files', path = 'out', format = 'json');
"""
NEW = OLD.replace("version: 1", "version: 2").replace("AS total", "AS total, MAX(v) AS peak")
ONCE = """
CREATE STREAM once AS SELECT DISTINCT ON (card) card, at FROM payments;
CREATE SINK cards FROM once WITH (connector = 'console');
"""
MIGRATION = "from: 1\nto: 2\noperators: {spend: {accept: {'max(v)': backfill}}}\n"
RUN = ("run", "new.stream", "--state", "state", "--from-savepoint", "cut")
BACKFILL = ("backfill", "new.stream", "--state", "state", "--from-savepoint", "cut")


def plan(text: str) -> Plan:
    found = compiled_text(text, "cards.stream").plan
    assert found is not None
    return found


def queries(of: Plan) -> tuple[Query, ...]:
    return tuple(of.queries.values())


def savepoint(sources: Mapping[str, Any], logs: Mapping[str, tuple[int, str]]) -> Savepoint:
    return Savepoint(
        *("cut", datetime(2026, 1, 1, tzinfo=UTC), "cards", 1, 7, 9, "0001", "s", "4.2.1"),
        plan=plan(OLD),
        sources=sources,
        logs=logs,
        lineage=(),
        queries={"spend": SavedQuery(4, 1000, 1000, ("out",), {}, counted_as="spend")},
    )


def uri(number: int) -> str:
    """Return the place of a file of the source, as Spark's log has it."""
    return Path("in", f"{number} b.json").absolute().as_uri()


@pytest.fixture
def saved(run: Run) -> Savepoint:
    """Return a savepoint of the old spec, and write both specs and a migration."""
    Path("old.stream").write_text(OLD, encoding="utf-8")
    Path("new.stream").write_text(NEW, encoding="utf-8")
    Path("m.yaml").write_text(MIGRATION, encoding="utf-8")
    log = Path("state/savepoints/cut/sources/payments")
    log.mkdir(parents=True)
    files = {}
    for name, entries in {"1.compact": (0, 1), "2": (2,), "3": (3,)}.items():
        lines = [json.dumps({"path": uri(n), "timestamp": 0, "batchId": n}) for n in entries]
        (log / name).write_text("\n".join(["v1", *lines]), encoding="utf-8")
        held = LocalDisk().sums([str(log / name)])[str(log / name)]
        files[f"sources/payments/{name}"] = (held.bytes, held.crc32)
    found = savepoint({"payments": {"logOffset": 2}}, files)
    note = {"format": 2, "id": "s", "pipeline": "cards"}
    Path("state/state.json").write_text(seal(note), encoding="utf-8")
    text = seal(found.to_json())
    Path("state/savepoints/cut/manifest.json").write_text(text, encoding="utf-8")
    return found


def test_files_are_those_of_the_log_up_to_the_cut(saved: Savepoint) -> None:
    Path("in").mkdir()
    for number in (0, 2):
        Path("in", f"{number} b.json").touch()
    new = plan(NEW)
    fit = Fit(saved, "state/savepoints/cut", new, None)
    before = read_before(LocalDisk(), fit, "payments", on_this_disk)
    found = list(files_read(before))
    assert [Path(path).name for path in found] == ["0 b.json", "1 b.json", "2 b.json"]
    assert files_gone(before) == (1, 3)
    assert on_this_disk("s3://somewhere/else.json")


def test_a_run_does_not_begin_with_what_is_to_be_computed(saved: Savepoint, run: Run) -> None:
    ended = run(*RUN, "--migration", "m.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "SR0421" in ended.err and "     spend: `max(v)`\n" in ended.err
    assert "`streamc backfill` makes a savepoint that has them" in ended.err


def test_a_backfill_of_nothing(saved: Savepoint, run: Run) -> None:
    Path("m.yaml").write_text(MIGRATION.replace("backfill", "empty"), encoding="utf-8")
    ended = run(*BACKFILL, "--migration", "m.yaml")
    assert (ended.code, "nothing of `cards` is to be computed" in ended.err) == (2, True)
    undecided = run(*BACKFILL)
    assert (undecided.code, "1 decision is missing" in undecided.err) == (1, True)


def test_a_name_that_is_taken(saved: Savepoint, run: Run) -> None:
    ended = run(*BACKFILL, "--migration", "m.yaml", "--name", "cut")
    assert (ended.code, "savepoint `cut` already exists" in ended.err) == (2, True)


def test_rows_that_are_gone(saved: Savepoint, run: Run) -> None:
    ended = run(*BACKFILL, "--migration", "m.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "SR0422" in ended.err and "3 of 3 files that were read are no longer there" in ended.err
    assert [one.name for one in Path("state/savepoints").iterdir()] == ["cut"]


def test_messages_that_may_be_gone(saved: Savepoint) -> None:
    messages = NEW.replace(
        "connector = 'files', path = 'in',",
        "connector = 'kafka', bootstrap_servers = 'b:1', topic = 't', spark.failOnDataLoss = 'NO',",
    )
    new = plan(messages.replace("'NO'", "'False'"))
    fit = Fit(saved, "state/savepoints/cut", new, None)
    asked = LocalDisk(), fit, queries(new), on_this_disk
    with pytest.raises(RuntimeFault, match="skips messages that Kafka no longer") as raised:
        check_whole(rows_gone(*asked), partial=False)
    assert raised.value.code is NOT_REPLAYED
    (told,) = check_whole(rows_gone(*asked), partial=True)
    assert told.startswith("source `payments` skips messages")
    for text in (
        messages.replace("'NO'", "'true'"),
        messages.replace(" spark.failOnDataLoss = 'NO',", ""),
    ):
        whole = Fit(saved, "state/savepoints/cut", plan(text), None)
        assert not list(rows_gone(LocalDisk(), whole, queries(whole.plan), on_this_disk))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            (NEW + ONCE).replace(
                "connector = 'files', path = 'in',",
                "connector = 'kafka', bootstrap_servers = 'b:1', topic = 't',",
            ),
            "`once` keeps what depends on the order in which rows came, and source `payments` "
            r"\(kafka\) does not tell",
        ),
        (
            NEW
            + """
CREATE OPERATOR idle ON payments PARTITION BY card
  STATE (n INT DEFAULT 0)
  TIMERS (due PROCESSING TIME)
  RETURNS (card STRING)
AS
ON EVENT SET n = n + 1; START TIMER due AT CURRENT_TIMESTAMP + INTERVAL 1 MINUTE;
ON TIMER due EMIT card; CLEAR STATE;
END;
CREATE SINK idles FROM idle WITH (connector = 'console');
""",
            "timer `due` of `idle` depends on the clock",
        ),
    ],
)
def test_what_can_not_be_had_again(text: str, told: str) -> None:
    new = plan(text)
    with pytest.raises(RuntimeFault, match=told) as raised:
        check_replayed(new, queries(new), {"payments": {"t": {"0": 3}}})
    assert raised.value.code is NOT_REPLAYED


def test_one_batch_unless_the_order_counts() -> None:
    cuts = {"payments": {"logOffset": 3}, "other": {"logOffset": 1}, "none": None}
    assert steps(plan(NEW), queries(plan(NEW)), cuts) == [cuts]
    new = plan(NEW + ONCE)
    files = new.sources["payments"]
    new = replace(new, sources=dict.fromkeys(("payments", "other", "none"), files))
    both = replace(new.queries["once"], sources=("payments", "other", "none"))
    found = steps(new, [both], cuts)
    reached = [(cut["payments"]["logOffset"], cut["other"]["logOffset"]) for cut in found]
    assert reached == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert found[-1] == cuts


def test_parts_by_operator() -> None:
    rest = {"old": None, "where": None, "keys": (), "window": None, "group": False, "cells": ()}
    parts = {"a": (), "b": ("x",), "c": None}
    operators = {
        id: OperatorChange(id, "aggregate", backfill=some, **rest) for id, some in parts.items()
    }
    found = Migration("p", 1, 2, operators, sources={}, sinks={}, marks=())
    assert backfilled_parts(found) == {"a": (), "b": ("x",)}
    assert backfilled_parts(None) == {}
