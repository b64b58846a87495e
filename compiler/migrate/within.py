"""``DISTINCT ON`` that gains or loses its WITHIN: the same ids, remembered by another rule.

Without WITHIN they are Spark's, each with the instant at which it is forgotten; with it they are a
program's, each with the instant at which it was last let through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dsl.format import identifier
from .aggregates import keys_of, where_findings
from .dedup import BECOME_ONE, dedup_keys, remembered_for
from .inputs import function_findings, input_findings
from .keys import Key, plan_keys
from .lengths import micros
from .programs import keys_of_program
from .verdicts import Fate, Finding, Json, Verdict
from .versions import Versions

_EXPIRES = "expires_at"
"""What a savepoint calls the instant at which Spark forgets an id."""


def plan_within(versions: Versions, old_id: str, id_: str) -> Fate | None:
    """Return what becomes of ids that are remembered by another rule; None of other operators."""
    old, new = versions.old["operators"][old_id], versions.new["operators"][id_]
    was, now = (_remembered(entry) for entry in (old, new))
    if was is None or now is None or old["kind"] == new["kind"]:
        return None
    keys = plan_keys(versions, id_, _keys(old), _keys(new))
    longer = micros(now) > micros(was)
    why = ["from when it was seen"]
    if longer:
        why.append("ids that were forgotten before the cut may come once more")
    if keys.merges:
        why.append(BECOME_ONE)
    findings = [
        *dedup_keys(id_, keys, _keys(new)),
        Finding(
            *("remembered for", was, now, Verdict.CONVERTED, "; ".join(why)),
            marked=longer or keys.merges,
        ),
        *_parts(new),
        *input_findings(versions, id_, _input(old), _input(new)),
        *function_findings(versions, id_, new),
        *where_findings(versions, id_),
    ]
    document = {
        "kind": new["kind"],
        "from": old_id,
        "where": versions.decisions.get("operators", id_, "where"),
        "keys": keys.document(),
        "window": None,
        "group": keys.merges,
        **_ids(new, micros(was), micros(now)),
    }
    kind = "dedup" if new["kind"] == "dedup" else "operator"
    return Fate("operator", old_id, id_, kind, tuple(findings), document)


def _parts(new: Json) -> Iterator[Finding]:
    """Yield what becomes of the parts of the program, which say how long ids are remembered."""
    for part, name in (("cell", "kept_at"), ("timer", "forget")):
        if new["kind"] == "dedup":
            yield Finding(part, name, None, Verdict.DROPPED, "ids say it by themselves")
        else:
            yield Finding(part, None, name, Verdict.DERIVED, "from what ids say by themselves")


def _remembered(entry: Json) -> str | None:
    return entry["within"] if entry["kind"] == "dedup" else remembered_for(entry)


def _keys(entry: Json) -> list[Key]:
    return (
        [*keys_of(entry)] if entry["kind"] == "dedup" else keys_of_program(entry, entry["inputs"])
    )


def _input(entry: Json) -> Sequence[Json]:
    given = entry if entry["kind"] == "dedup" else entry["inputs"][0]
    return list(given["input"])


def _ids(new: Json, was: int, now: int) -> Json:
    """Return how each id of the new version is made."""
    if new["kind"] == "dedup":
        return {"cells": [], "expires": _later("kept_at", now)}
    return {
        "cells": [{"id": "kept_at", "expr": _later(_EXPIRES, -was), "merge": None}],
        "timers": [{"name": "forget", "expr": _later(_EXPIRES, now - was)}],
        "entries": [],
        "waiting": [],
    }


def _later(column: str, shift: int) -> str:
    return f"timestamp_micros(unix_micros({identifier(column)}) + {shift}L)"
