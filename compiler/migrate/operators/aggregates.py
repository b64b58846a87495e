"""Aggregates, sessions and tops: groups by keys and a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....contracts.migration import OperatorChange
from ....contracts.plan import Aggregation, Deduplication, Operator, TopN, key_column, window_of
from ....dsl.format import identifier
from ..columns.keys import Key, KeyPlan, plan_keys
from ..compared.versions import Versions, aggregates_of, column_meaning, key_meaning
from ..findings.changes import change, made_cell
from ..findings.verdicts import Finding, Outcome, Verdict
from ..inputs.rows import function_findings, input_findings, listed
from .cells import empty_cells, plan_cells
from .windows import WindowPlan, plan_window

_ROWS = "collect_list(rows)"
"""The cell with the rows of a window."""


def plan_aggregate(versions: Versions, old: Aggregation, new: Aggregation) -> Outcome:
    """Return the migration of the groups of a continuing aggregate."""
    keys = plan_keys(versions, new.id, keys_of(old), keys_of(new))
    window = plan_window(versions, new.id, old.window, new.window, (_time(old), _time(new)))
    merges = keys.merges or window.merges
    cells = plan_cells(versions, old, new, merges=merges)
    findings = [
        *keys.findings,
        *window.findings,
        *input_findings(versions, new.id, old.input, new.input),
        *function_findings(versions, new),
        *_emission(old, new),
        *where_findings(versions, new.id),
        *cells.findings,
    ]
    made = change(
        *(new.id, kind_of(new), old.id, _where(versions, new.id, window)),
        keys=keys.made(),
        window=window.made(),
        group=merges,
        cells=cells.made,
    )
    made = replace(made, backfill=cells.backfill or None)
    return Outcome("operator", old.id, new.id, kind_of(new), tuple(findings), made)


def empty_aggregate(versions: Versions, new: Aggregation) -> OperatorChange:
    """Return the change of groups that begin empty."""
    cells = empty_cells(aggregates_of(versions.new, new.id))
    return change(new.id, kind_of(new), None, cells=cells)


def kind_of(operator: Operator) -> str:
    """Return the kind of an operator, as the runtime distinguishes them."""
    window = window_of(operator)
    return "session" if window is not None and window.kind == "session" else operator.KIND


def keys_of(operator: Aggregation | TopN | Deduplication) -> list[Key]:
    """Return the keys of an operator with one input."""
    return [
        Key(
            key.name,
            key.type,
            key_meaning(operator.input, key.name),
            key_column(operator, key.name),
        )
        for key in operator.keys
    ]


def where_findings(versions: Versions, id_: str) -> Iterator[Finding]:
    """Yield the findings about rows that the file leaves behind."""
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


def _time(operator: Aggregation) -> tuple[str, ...]:
    if operator.window is None:
        return ()
    column = operator.window.column
    found: set[str] = set()
    for branch in operator.input:
        found |= set(branch.time.values() or {column})
    return tuple(sorted(found))


def _emission(old: Aggregation, new: Aggregation) -> Iterator[Finding]:
    if old.emit != new.emit:
        why = f"{old.emit} before, {new.emit} from the cut on; the groups are the same"
        yield Finding("emission", "", "", Verdict.KEPT, why)


def plan_top_n(versions: Versions, old: TopN, new: TopN) -> Outcome:
    """Return the migration of rows that wait for the end of their window to be sorted."""
    keys = plan_keys(versions, new.id, keys_of(old), keys_of(new))
    findings = [
        *keys.findings,
        *input_findings(versions, new.id, old.input, new.input),
        *function_findings(versions, new),
        *_order(old, new),
        *where_findings(versions, new.id),
        _rows(old, new, keys),
    ]
    cell = made_cell(_ROWS, identifier(_ROWS))
    where = versions.decisions.get("operators", new.id, "where")
    made = change(new.id, "topn", old.id, where, keys=keys.made(), cells=[cell])
    return Outcome("operator", old.id, new.id, "topn", tuple(findings), made)


def _order(old: TopN, new: TopN) -> Iterator[Finding]:
    why = "all rows of an open window are kept, so it holds for the whole window"
    for part, before, after in (
        ("function", old.function or "row_number", new.function or "row_number"),
        ("order", ", ".join(old.order), ", ".join(new.order)),
        ("limit", str(old.limit), str(new.limit)),
    ):
        if before != after:
            yield Finding(part, before, after, Verdict.KEPT, why)


def _rows(old: TopN, new: TopN, keys: KeyPlan) -> Finding:
    why = None
    fix = f"`{new.id}: drop` begins with new windows"
    before, after = _columns(old), _columns(new)
    if keys.merges:
        why = "rows of several groups are kept in Spark's own form, which can't be put together"
    elif before != after:
        was, now = (listed(f"{n} {t}" for n, _, t in side) for side in (before, after))
        why = f"rows are kept in Spark's own form, as {was}, not {now}"
    if why is None:
        return Finding("cell", _ROWS, _ROWS, Verdict.KEPT)
    return Finding("cell", _ROWS, _ROWS, Verdict.IMPOSSIBLE, why, fix)


def _columns(operator: TopN) -> Sequence[tuple[str, tuple[str, ...], str | None]]:
    """Return the columns of waiting rows: the names count too, since rows are ordered by them."""
    given = operator.given if operator.given is not None else (None,) * len(operator.rows)
    return [
        (name, column_meaning(operator.input, name), type_)
        for name, type_ in zip(operator.rows, given, strict=True)
    ]
