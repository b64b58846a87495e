"""Joins: the rows of both sides that wait for partners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....contracts.migration import SideChange
from ....contracts.plan import Column, Join, Side
from ....dsl.format import identifier
from ...model.intervals import micros_text
from ..columns.waiting import plan_columns
from ..compared.versions import SIDES, Versions, bare_key, column_meaning, key_meaning, side_columns
from ..findings.changes import change
from ..findings.verdicts import Finding, Outcome, Verdict
from ..inputs.rows import function_findings, input_findings, marked
from ..types.conversions import cast, holds_all
from .windows import window_text


def plan_join(versions: Versions, old: Join, new: Join) -> Outcome:
    """Return the migration of the rows that wait on both sides of a join."""
    id_ = new.id
    findings: list[Finding] = [
        *_turned(versions, old.id),
        *_kind(old, new),
        *_bound(versions, id_, old, new),
        *_condition(versions, id_, old, new),
        *function_findings(versions, new),
    ]
    sides: list[SideChange] = []
    for place, word in enumerate(SIDES):
        before, after = old.sides[place], new.sides[place]
        found = list(_time(id_, word, before, after))
        found += input_findings(versions, id_, before.input, after.input, word)
        keys, expressions = _keys(id_, word, before, after)
        columns, made = plan_columns(
            *(versions, id_, word, (before.input, after.input)),
            (side_columns(versions.old, old, place), side_columns(versions.new, new, place)),
        )
        findings += [*found, *keys, *columns]
        was = SIDES[1 - place] if old.id in versions.turned else None
        sides.append(SideChange(tuple(expressions), tuple(made), old=was))
    whole = replace(change(id_, "join", old.id), sides=tuple(sides))
    return Outcome("operator", old.id, id_, "join", tuple(findings), whole)


def _turned(versions: Versions, old_id: str) -> Iterator[Finding]:
    if old_id in versions.turned:
        why = "what waited on the left waits on the right, and the other way round"
        yield Finding("sides", "", "", Verdict.KEPT, why)


def _kind(old: Join, new: Join) -> Iterator[Finding]:
    before, after = old.join, new.join
    if before == after:
        yield Finding("join", before, after, Verdict.KEPT)
        return
    why = "rows know whether they have met a partner, so what waits comes out as the new kind says"
    gained = _outer(after) - _outer(before)
    if gained:
        sides = " and ".join(sorted(gained))
        why += f"; rows of the {sides} that left before the cut without one never came out"
    yield Finding("join", before, after, Verdict.KEPT, why)


def _outer(kind: str) -> set[str]:
    return {"left": {"left"}, "right": {"right"}, "full": {"left", "right"}}.get(kind, set())


def _bound(versions: Versions, id_: str, old: Join, new: Join) -> Iterator[Finding]:
    before, after = (_bound_text(entry) for entry in (old, new))
    if old.bound is None or new.bound is None:
        if old.bound != new.bound:
            why = "rows were kept by another rule: those that would have a partner may be gone"
            yield marked(versions, id_, "bound", "", why, "incomplete")
        return
    was, now = old.bound, new.bound
    if was == now:
        yield Finding("bound", before, after, Verdict.KEPT)
        return
    wider = now.lower_micros < was.lower_micros or now.upper_micros > was.upper_micros
    if not wider:
        why = "rows are kept for less long: those past the new bound leave at once"
        met = bool(_outer(new.join))
        why += "; rows that met a partner past it stay met" if met else ""
        yield Finding("bound", before, after, Verdict.KEPT, why, marked=met)
        return
    why = (
        f"it was {before} and is {after}: rows that left before the cut are missing as partners "
        "until all that wait came after it, and two rows that wait at the cut do not meet: a row "
        "looks for partners as it comes"
    )
    yield marked(versions, id_, "bound", "", why, "incomplete")


def _bound_text(join: Join) -> str:
    if join.bound is None:
        return ""
    return f"{micros_text(join.bound.lower_micros)} to {micros_text(join.bound.upper_micros)}"


def _condition(versions: Versions, id_: str, old: Join, new: Join) -> Iterator[Finding]:
    before, after = set(old.also or ()), set(new.also or ())
    came = [f"`{text}` is asked of {_asked(text)} now" for text in sorted(after - before)]
    gone = [f"`{text}` is asked of {_asked(text)} no more" for text in sorted(before - after)]
    if came or gone:
        why = "; ".join([*came, *gone]) + "; rows that met a partner before stay met"
        if any(_asked(text) != "pairs" for text in after - before):
            why += ", rows that wait are not asked"
        yield marked(versions, id_, "condition", "", why, "mixed")


def _asked(text: str) -> str:
    """Return what a condition applies to: one on a single side to each arriving row."""
    sides = [word for word in SIDES if f"{word}." in text]
    return f"rows of the {sides[0]}" if len(sides) == 1 else "pairs"


def _time(id_: str, word: str, old: Side, new: Side) -> Iterator[Finding]:
    """Yield a finding when rows of a side are kept according to another time or window."""
    times = [
        column_meaning(side.input, side.event_time) if side.event_time else ()
        for side in (old, new)
    ]
    windows = [window_text(s.window) if s.window else "" for s in (old, new)]
    if times[0] != times[1] or windows[0] != windows[1]:
        before, after = (
            " ".join((*time, window)).strip() for time, window in zip(times, windows, strict=True)
        )
        why = "rows wait by another time: those that would have a partner are in other places"
        fix = f"`{id_}: drop` begins with no rows"
        yield Finding(f"time {word}", before, after, Verdict.IMPOSSIBLE, why, fix)


def _keys(id_: str, word: str, old: Side, new: Side) -> tuple[list[Finding], list[str]]:
    """Return the findings on the keys of a side, and the SQL of each new one."""
    free = list(old.keys)
    findings: list[Finding] = []
    expressions: list[str] = []
    for key in new.keys:
        found = next((k for k in free if _key(old, k) == _key(new, key)), None)
        if found is None or not holds_all(found.type, key.type):
            why = "rows are kept by their key, and the old ones by another"
            fix = f"`{id_}: drop` begins with no rows"
            findings.append(Finding(f"key {word}", None, key.name, Verdict.IMPOSSIBLE, why, fix))
            continue
        free.remove(found)
        column = identifier(found.name)
        changed = found.type != key.type
        verdict = Verdict.CONVERTED if changed else Verdict.KEPT
        why = f"{found.type} to {key.type}, exactly" if changed else ""
        findings.append(Finding(f"key {word}", found.name, key.name, verdict, why))
        expressions.append(cast(column, key.type) if changed else column)
    for key in free:
        why = "rows are kept by it, and would have to be by fewer keys"
        fix = f"`{id_}: drop` begins with no rows"
        findings.append(Finding(f"key {word}", key.name, None, Verdict.IMPOSSIBLE, why, fix))
    return findings, expressions


def _key(side: Side, key: Column) -> tuple[str, ...]:
    """Return the meaning of a key, without the name of its relation."""
    return key_meaning(side.input, bare_key(side, key))
