"""The comparison of two plans, on plans written by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from streamc.compiler.plan.compare import Difference, Edit, PlanChanges, compare_plans
from streamc.compiler.plan.compare_text import changes_text
from streamc.contracts.plan import Plan

PLAN: dict[str, Any] = {
    "format": 1,
    "pipeline": "spending",
    "version": 1,
    "description": None,
    "spec": "spending.stream",
    "settings": {
        "state": "state/spending",
        "trigger": "10 seconds",
        "state_backend": "auto",
        "variables": {"a": None, "b": "1"},
        "spark": {},
        "profiles": {},
    },
    "checkpoint": {"every": "1 minute", "retain": 5, "timeout": "10 minutes", "tolerate": 3},
    "sources": {
        "payments": {
            "connector": "files",
            "options": {"format": "json", "path": "${input}"},
            "columns": [
                {"name": "card_id", "type": "STRING", "nullable": False},
                {"name": "amount", "type": "DECIMAL(12,2)", "nullable": True},
            ],
            "computed": [],
            "watermark": {"column": "paid_at", "delay": "30 seconds"},
        }
    },
    "operators": {
        "per_minute": {
            "kind": "aggregate",
            "stream": "per_minute",
            "window": {
                "kind": "tumble",
                "column": "paid_at",
                "size": "1 minute",
                "slide": None,
                "gap": None,
            },
            "keys": [{"name": "card_id", "type": "STRING"}],
            "emit": "on window close",
            "aggregates": [
                {
                    "id": "sum(amount)",
                    "function": "sum",
                    "filter": None,
                    "cells": [
                        {"id": "sum(amount).sum", "buffer": "sum", "type": "DECIMAL(22,2)"},
                        {"id": "sum(amount).isEmpty", "buffer": "isEmpty", "type": "BOOLEAN"},
                    ],
                }
            ],
        },
        "x__join": {
            "kind": "join",
            "stream": "x",
            "join": "inner",
            "condition": "a.k = b.k",
            "bound": {"lower_micros": 0, "upper_micros": 3_600_000_000},
            "sides": [
                {
                    "relation": name,
                    "keys": [{"name": "k", "type": "STRING"}],
                    "columns": [
                        {"name": "k", "type": "STRING"},
                        {"name": "ts", "type": "TIMESTAMP"},
                    ],
                    "event_time": "ts",
                }
                for name in "ab"
            ],
        },
    },
    "queries": {
        "per_minute": {
            "relation": "per_minute",
            "output_mode": "append",
            "sinks": ["spend"],
            "sources": ["payments"],
            "operators": [{"id": "per_minute", "aggregates": ["sum(amount)"]}],
        }
    },
    "sinks": {
        "spend": {
            "from": "per_minute",
            "connector": "files",
            "options": {"format": "parquet", "path": "out/spend"},
            "output_mode": "append",
        }
    },
}


def compared(old: dict[str, Any], new: dict[str, Any]) -> PlanChanges:
    return compare_plans(Plan.from_json(old), Plan.from_json(new))


def test_equal_plans() -> None:
    changes = compared(PLAN, deepcopy(PLAN))
    assert not changes.touches_state
    assert changes_text(changes) == (
        "stateful operators\n"
        "  per_minute  aggregate  unchanged\n"
        "  x__join     join       unchanged\n"
    )


def test_a_stream_keeps_its_state_under_a_new_name() -> None:
    new = deepcopy(PLAN)
    new["operators"]["per_minute"]["stream"] = "by_minute"
    assert not compared(PLAN, new).touches_state


def test_everything_that_can_change_in_an_aggregate() -> None:
    new = deepcopy(PLAN)
    operator = new["operators"]["per_minute"]
    operator["window"]["size"] = "5 minutes"
    operator["keys"] = [{"name": "country", "type": "STRING"}, {"name": "card_id", "type": "INT"}]
    operator["aggregates"][0]["cells"].pop()
    operator["aggregates"][0]["cells"][0]["type"] = "DOUBLE"
    cell = {"id": "count(*).count", "buffer": "count", "type": "BIGINT"}
    count = {"id": "count(*)", "function": "count", "filter": None, "cells": [cell]}
    operator["aggregates"].insert(0, count)
    (change, _) = compared(PLAN, new).operators
    assert change.difference is Difference.CHANGED
    assert change.edits == (
        Edit("window", "tumble on paid_at, size 1 minute", "tumble on paid_at, size 5 minutes"),
        Edit("key country", None, "STRING"),
        Edit("key card_id", "STRING", "INT"),
        Edit("cell count(*).count", None, "BIGINT"),
        Edit("cell sum(amount).sum", "DECIMAL(22,2)", "DOUBLE"),
        Edit("cell sum(amount).isEmpty", "BOOLEAN", None),
    )


def test_order_of_keys_and_aggregates() -> None:
    old, new = deepcopy(PLAN), deepcopy(PLAN)
    for plan, order in ((old, 1), (new, -1)):
        operator = plan["operators"]["per_minute"]
        operator["keys"] = [{"name": name, "type": "INT"} for name in "ab"[::order]]
        operator["aggregates"] = [
            {"id": name, "function": name[:3], "filter": None, "cells": []}
            for name in ["min(x)", "max(x)"][::order]
        ]
        plan["queries"]["per_minute"]["operators"] = [{"id": "per_minute", "aggregates": []}]
    (change, _) = compared(old, new).operators
    assert change.edits == (
        Edit("order of keys", "a, b", "b, a"),
        Edit("order of aggregates", "min(x), max(x)", "max(x), min(x)"),
    )


def test_settings() -> None:
    new = {
        **PLAN,
        "version": 2,
        "settings": {
            **PLAN["settings"],
            "trigger": "1 minute",
            "variables": {"a": "x", "c": None},
            "spark": {"spark.x": "8"},
            "profiles": {"prod": {"state": "s3a://b"}},
        },
        "checkpoint": {**PLAN["checkpoint"], "every": "30 seconds"},
    }
    changes = compared(PLAN, new)
    assert not changes.touches_state
    assert changes_text(changes).partition("settings\n")[2] == (
        "  version: 1 -> 2\n"
        "  trigger: 10 seconds -> 1 minute\n"
        "  variable a: (to be given) -> x\n"
        "  + variable c (to be given)\n"
        "  - variable b 1\n"
        "  + spark spark.x 8\n"
        "  + profile prod state s3a://b\n"
        "  checkpoint every: 1 minute -> 30 seconds\n"
    )


def test_everything_that_can_change_in_a_join() -> None:
    new = deepcopy(PLAN)
    operator = new["operators"]["x__join"]
    operator["join"] = "left"
    operator["condition"] = "a.k = b.j"
    operator["sides"][1]["keys"] = [{"name": "j", "type": "STRING"}]
    operator["sides"][0]["columns"].append({"name": "v", "type": None})
    operator["sides"][1]["event_time"] = "at"
    operator["bound"] = {"lower_micros": -5_400_000_000, "upper_micros": 500}
    (_, change) = compared(PLAN, new).operators
    assert change.edits == (
        Edit("join", "inner", "left"),
        Edit("condition", "a.k = b.k", "a.k = b.j"),
        Edit("bound", "0 hours to 1 hour", "-90 minutes to 500 microseconds"),
        Edit("left column v", None, "unknown type"),
        Edit("right event time", "ts", "at"),
        Edit("right key j", None, "STRING"),
        Edit("right key k", "STRING", None),
    )


def test_added_removed_and_what_is_around() -> None:
    new = deepcopy(PLAN)
    new["operators"]["once"] = {
        **{"kind": "dedup", "stream": "once"},
        **{"keys": [], "within": "1 hour"},
    }
    del new["operators"]["x__join"]
    source = new["sources"]["payments"]
    source["watermark"]["delay"] = "1 minute"
    source["columns"].append({"name": "paid_at", "type": "TIMESTAMP", "nullable": True})
    source["options"]["path"] = "data"
    query = new["queries"]["per_minute"]
    query["operators"] = [{"id": "once"}, {"id": "per_minute", "aggregates": []}]
    query["sinks"].append("copy")
    new["sinks"]["copy"] = {**new["sinks"]["spend"], "connector": "console"}
    new["sinks"]["spend"]["options"]["path"] = "elsewhere"
    changes = compared(PLAN, new)
    assert changes.touches_state
    assert changes_text(changes) == (
        "stateful operators\n"
        "  per_minute  aggregate  unchanged\n"
        "  once        dedup      added\n"
        "  x__join     join       removed\n"
        "sources\n"
        "  payments  files  changed\n"
        "    watermark: paid_at - 30 seconds -> paid_at - 1 minute\n"
        "    option path: ${input} -> data\n"
        "    + column paid_at TIMESTAMP\n"
        "queries\n"
        "  per_minute  append  changed\n"
        "    + sink copy\n"
        "    + operator once\n"
        "    - per_minute keeps sum(amount)\n"
        "sinks\n"
        "  spend  files    changed\n"
        "    option path: out/spend -> elsewhere\n"
        "  copy   console  added\n"
    )
