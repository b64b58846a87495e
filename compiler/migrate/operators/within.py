"""``DISTINCT ON`` that gains or loses WITHIN: the same ids, remembered by another rule.

Without WITHIN they are Spark's, each with the instant at which it is forgotten; with it they are a
program's, each with the instant at which it was last emitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....contracts.migration import OperatorChange
from ....contracts.plan import Branch, Deduplication, Operator, Program
from ....dsl.format import identifier
from ..columns.keys import Key, plan_keys
from ..compared.versions import Versions
from ..findings.changes import change, made_cell, made_part
from ..findings.verdicts import Finding, Outcome, Verdict
from ..inputs.rows import function_findings, input_findings
from ..texts.lengths import micros
from .aggregates import keys_of, where_findings
from .dedup import BECOME_ONE, dedup_keys, remembered_for
from .programs import keys_of_program

_EXPIRES = "expires_at"
"""The name in a savepoint of the instant at which Spark forgets an id."""


def plan_within(versions: Versions, old: Operator, new: Operator) -> Outcome | None:
    """Return the migration of ids that are remembered by another rule; None for other operators."""
    if isinstance(old, Deduplication) and isinstance(new, Program):
        return _planned(versions, old, new)
    if isinstance(old, Program) and isinstance(new, Deduplication):
        return _planned(versions, old, new)
    return None


def _planned(
    versions: Versions, old: Deduplication | Program, new: Deduplication | Program
) -> Outcome | None:
    was, now = _remembered(old), _remembered(new)
    if was is None or now is None:
        return None
    id_ = new.id
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
        *function_findings(versions, new),
        *where_findings(versions, id_),
    ]
    where = versions.decisions.get("operators", id_, "where")
    made = change(id_, new.KIND, old.id, where, keys=keys.made(), group=keys.merges)
    made = _with_ids(made, micros(was), micros(now))
    return Outcome("operator", old.id, id_, new.KIND, tuple(findings), made)


def _parts(new: Deduplication | Program) -> Iterator[Finding]:
    """Yield the findings on the parts of the program, which decide how long ids are remembered."""
    for part, name in (("cell", "kept_at"), ("timer", "forget")):
        if isinstance(new, Deduplication):
            yield Finding(part, name, None, Verdict.DROPPED, "ids say it by themselves")
        else:
            yield Finding(part, None, name, Verdict.DERIVED, "from what ids say by themselves")


def _remembered(operator: Deduplication | Program) -> str | None:
    return operator.within if isinstance(operator, Deduplication) else remembered_for(operator)


def _keys(operator: Deduplication | Program) -> list[Key]:
    if isinstance(operator, Deduplication):
        return keys_of(operator)
    return keys_of_program(operator, operator.inputs)


def _input(operator: Deduplication | Program) -> Sequence[Branch]:
    given = operator if isinstance(operator, Deduplication) else operator.inputs[0]
    return given.input


def _with_ids(made: OperatorChange, was: int, now: int) -> OperatorChange:
    """Return a change with the computation of each id of the new version."""
    if made.kind == Deduplication.KIND:
        return replace(made, expires=_later("kept_at", now))
    return replace(
        made,
        cells=(made_cell("kept_at", _later(_EXPIRES, -was)),),
        timers=(made_part("forget", _later(_EXPIRES, now - was)),),
        waiting=(),
    )


def _later(column: str, shift: int) -> str:
    return f"timestamp_micros(unix_micros({identifier(column)}) + {shift}L)"
