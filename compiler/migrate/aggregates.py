"""Aggregates, sessions and tops: groups by keys and a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .cells import empty_cells, plan_cells
from .inputs import function_findings, input_findings, listed
from .keys import Key, KeyPlan, plan_keys
from .verdicts import Fate, Finding, Json, Verdict
from .versions import Versions, aggregates_of, key_column, meaning
from .windows import WindowPlan, plan_window


def plan_aggregate(versions: Versions, old_id: str, id_: str) -> Fate:
    """Return what becomes of the groups of an aggregate that goes on."""
    old, new = versions.old["operators"][old_id], versions.new["operators"][id_]
    keys = plan_keys(versions, id_, keys_of(old), keys_of(new))
    times = (_time(old), _time(new))
    window = plan_window(versions, id_, old["window"], new["window"], times)
    merges = keys.merges or window.merges
    cells = plan_cells(versions, old_id, id_, merges=merges)
    findings = [
        *keys.findings,
        *window.findings,
        *input_findings(versions, id_, old["input"], new["input"]),
        *function_findings(versions, id_, new),
        *_emission(old, new),
        *where_findings(versions, id_),
        *cells.findings,
    ]
    document: dict[str, object] = {
        "kind": kind_of(new),
        "from": old_id,
        "where": _where(versions, id_, window),
        "keys": keys.document(),
        "window": window.document(),
        "group": merges,
        "cells": list(cells.document),
    }
    if cells.backfill:
        document |= {"backfill": list(cells.backfill)}
    return Fate("operator", old_id, id_, kind_of(new), tuple(findings), document)


def empty_aggregate(versions: Versions, id_: str) -> Json:
    """Return the document of groups of which there are none."""
    entry = versions.new["operators"][id_]
    return {
        "kind": kind_of(entry),
        "from": None,
        "where": None,
        "keys": [],
        "window": None,
        "group": False,
        "cells": empty_cells(aggregates_of(versions.new, id_)),
    }


def kind_of(entry: Json) -> str:
    """Return the kind of an operator, as the runtime tells them apart."""
    window = entry.get("window")
    is_session = window is not None and window["kind"] == "session"
    return "session" if is_session else str(entry["kind"])


def keys_of(entry: Json) -> list[Key]:
    """Return the keys of an operator with one input."""
    return [
        Key(
            key["name"],
            key["type"],
            meaning(entry["input"], "keys", key["name"]),
            key_column(entry, key["name"]),
        )
        for key in entry["keys"]
    ]


def where_findings(versions: Versions, id_: str) -> Iterator[Finding]:
    """Yield what is left behind because the file says so."""
    condition = versions.decisions.get("operators", id_, "where")
    if condition is not None:
        why = f"what is not of {condition} is left behind"
        yield Finding("rows", None, None, Verdict.KEPT, why)


def _where(versions: Versions, id_: str, window: WindowPlan) -> str | None:
    decided = versions.decisions.get("operators", id_, "where")
    parts = [part for part in (window.where, decided) if part is not None]
    return (
        " AND ".join(f"({part})" for part in parts) if len(parts) > 1 else next(iter(parts), None)
    )


def _time(entry: Json) -> tuple[str, ...]:
    if entry["window"] is None:
        return ()
    column = entry["window"]["column"]
    found: set[str] = set()
    for branch in entry["input"]:
        found |= set(branch.get("time", {column: column}).values())
    return tuple(sorted(found))


def _emission(old: Json, new: Json) -> Iterator[Finding]:
    if old["emit"] != new["emit"]:
        why = f"{old['emit']} before, {new['emit']} from the cut on; the groups are the same"
        yield Finding("emission", "", "", Verdict.KEPT, why)


def plan_top_n(versions: Versions, old_id: str, id_: str) -> Fate:
    """Return what becomes of rows that wait for the end of their window to be put in order."""
    old, new = versions.old["operators"][old_id], versions.new["operators"][id_]
    keys = plan_keys(versions, id_, keys_of(old), keys_of(new))
    findings = [
        *keys.findings,
        *input_findings(versions, id_, old["input"], new["input"]),
        *function_findings(versions, id_, new),
        *_order(old, new),
        *where_findings(versions, id_),
        _rows(id_, old, new, keys),
    ]
    cell = "collect_list(rows)"
    document = {
        "kind": "topn",
        "from": old_id,
        "where": versions.decisions.get("operators", id_, "where"),
        "keys": keys.document(),
        "window": None,
        "group": False,
        "cells": [{"id": cell, "expr": f"`{cell}`", "merge": None}],
    }
    return Fate("operator", old_id, id_, "topn", tuple(findings), document)


def _order(old: Json, new: Json) -> Iterator[Finding]:
    for part in ("function", "order", "limit"):
        before, after = (_text(entry.get(part, "row_number")) for entry in (old, new))
        if before != after:
            why = "all rows of an open window are kept, so it holds for the whole window"
            yield Finding(part, before, after, Verdict.KEPT, why)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _rows(id_: str, old: Json, new: Json, keys: KeyPlan) -> Finding:
    cell, why = "collect_list(rows)", None
    fix = f"`{id_}: drop` begins with new windows"
    before, after = (_columns(entry) for entry in (old, new))
    if keys.merges:
        why = "rows of several groups are kept in Spark's own form, which can't be put together"
    elif before != after:
        was, now = (listed(f"{n} {t}" for n, _, t in side) for side in (before, after))
        why = f"rows are kept in Spark's own form, as {was}, not {now}"
    if why is None:
        return Finding("cell", cell, cell, Verdict.KEPT)
    return Finding("cell", cell, cell, Verdict.IMPOSSIBLE, why, fix)


def _columns(entry: Json) -> Sequence[tuple[str, tuple[str, ...], str | None]]:
    """Return the columns of rows that wait: the names count too, the order is by them."""
    return [
        (name, meaning(entry["input"], "columns", name), type_)
        for name, type_ in zip(entry["rows"], entry["given"], strict=True)
    ]
