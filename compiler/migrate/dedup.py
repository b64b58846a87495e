"""Deduplication: the ids that are remembered, and until when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .aggregates import keys_of, where_findings
from .inputs import function_findings, input_findings
from .keys import Key, KeyPlan, plan_keys
from .lengths import micros
from .verdicts import Fate, Finding, Json, Verdict
from .versions import Versions

BECOME_ONE = "ids that become one may come once more, where one of them had come again"
"""Had they been one before, the first would have kept the others out until it was forgotten, and
one of the others may have been the next first: the state does not say which.
"""

_REMEMBERED = re.compile(r" *start timer forget at (?P<time>.+) \+ INTERVAL (?P<length>\d+ [A-Z]+)")


def remembered_for(entry: Json) -> str | None:
    """Return how long ids are remembered by ``DISTINCT ON … WITHIN``, a program of its own.

    None for other operators.
    """
    if entry["kind"] != "operator" or entry["declared"]:
        return None
    parts = [one["id"] for one in (*entry["cells"], *entry["timers"])]
    found = [m for line in entry["statements"] if (m := _REMEMBERED.fullmatch(line)) is not None]
    sets = [f"    set kept_at = {m['time']}" for m in found]
    is_one = parts == ["kept_at", "forget"] and len(found) == 1 and sets[0] in entry["statements"]
    return str(found[0]["length"]).lower() if is_one else None


def plan_dedup(versions: Versions, old_id: str, id_: str) -> Fate:
    """Return what becomes of the ids that an operator has seen."""
    old, new = versions.old["operators"][old_id], versions.new["operators"][id_]
    keys = plan_keys(versions, id_, keys_of(old), keys_of(new))
    shift = micros(new["within"]) - micros(old["within"])
    findings = [
        *dedup_keys(id_, keys, keys_of(new)),
        _expiry(old, new, shift, keys.merges),
        *input_findings(versions, id_, old["input"], new["input"]),
        *function_findings(versions, id_, new),
        *where_findings(versions, id_),
    ]
    document = {
        "kind": "dedup",
        "from": old_id,
        "where": versions.decisions.get("operators", id_, "where"),
        "keys": keys.document(),
        "window": None,
        "group": keys.merges,
        "cells": [],
        "shift_expiry_micros": shift,
    }
    return Fate("operator", old_id, id_, "dedup", tuple(findings), document)


def dedup_keys(id_: str, keys: KeyPlan, new: Sequence[Key]) -> Iterator[Finding]:
    """Yield the findings on keys in the words of ids: one with a new part was never seen."""
    for finding in keys.findings:
        if finding.old is None and finding.open is not None:
            why = "ids that have been seen do not say which of it they had: each would come again"
            fix = (
                f"`{id_}: drop` begins with no ids; `key: {{{finding.new}: …}}` gives all one value"
            )
            yield Finding("key", None, finding.new, Verdict.IMPOSSIBLE, why, fix, open=finding.open)
        elif finding.verdict is Verdict.DROPPED:
            why = "ids that differ in it alone become one, seen when the first of them was"
            yield Finding("key", finding.old, None, Verdict.DROPPED, why)
        else:
            yield finding


def _expiry(old: Json, new: Json, shift: int, merges: bool) -> Finding:
    part, before, after = "remembered for", old["within"], new["within"]
    said = []
    if shift:
        said.append(f"each id is forgotten {'later' if shift > 0 else 'sooner'} by the difference")
    if merges:
        said.append(BECOME_ONE)
    verdict = Verdict.CONVERTED if shift else Verdict.MERGED if merges else Verdict.KEPT
    return Finding(part, before, after, verdict, "; ".join(said), marked=merges)
