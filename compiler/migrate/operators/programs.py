"""Programs: values, maps, sets, lists, timers and waiting rows of each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ....contracts.migration import CellChange, WaitingChange
from ....contracts.plan import Column, Program, ProgramCell, ProgramInput, key_column
from ....dsl.format import identifier
from ..columns.keys import Key, KeyPlan, plan_keys
from ..columns.waiting import plan_columns
from ..compared.recompute import computed
from ..compared.versions import Versions, key_meaning, waiting_columns
from ..findings.changes import change, made_cell
from ..findings.verdicts import Decision, Finding, Outcome, Verdict
from ..inputs.rows import NOT_SEEN, function_findings, input_findings, marked
from ..types.conversions import cast, in_its_type
from ..types.structs import converted, holds_all_by_name
from .dedup import BECOME_ONE, remembered_for
from .entries import plan_entries
from .folded import folds, is_another, narrower_frames, same_columns, same_statements
from .successors import asked, successors
from .timers import plan_timers
from .windows import shape, window_text


def plan_program(versions: Versions, old: Program, new: Program) -> Outcome:
    """Return the migration of a continuing program's state."""
    id_ = new.id
    same = list(_pairs(old, new))
    keys = plan_keys(
        *(versions, id_),
        keys_of_program(old, [before for before, _ in same]),
        keys_of_program(new, [after for _, after in same]),
    )
    is_merged = keys.merges and None not in (remembered_for(old), remembered_for(new))
    columns = {} if new.declared else same_columns(old, new)
    values, cells = _values(versions, id_, old, new, columns)
    found_entries, entries = plan_entries(versions, id_, old, new)
    found_timers, timers = plan_timers(versions, id_, old, new)
    found_waiting, waiting = _waiting(versions, old, new)
    condition = versions.decisions.get("operators", id_, "where")
    findings = [
        *_keys(id_, keys, is_merged=is_merged),
        *_inputs(versions, id_, old, new),
        *function_findings(versions, new),
        *_window(id_, old, new),
        *_handlers(versions, id_, old, new, columns),
        *values,
        *found_entries,
        *found_timers,
        *found_waiting,
    ]
    if condition is not None:
        why = f"what other keys have than those where {condition} is left behind"
        findings.append(Finding("rows", None, None, Verdict.KEPT, why))
    made = change(
        *(id_, new.KIND, old.id, condition), keys=keys.made(), group=is_merged, cells=cells
    )
    again = tuple(f.new for f in findings if f.verdict is Verdict.BACKFILL and f.new is not None)
    made = replace(
        made,
        timers=tuple(timers),
        entries=tuple(entries),
        waiting=tuple(waiting),
        backfill=again or None,
    )
    return Outcome("operator", old.id, id_, new.KIND, tuple(findings), made)


def keys_of_program(operator: Program, inputs: Sequence[ProgramInput]) -> list[Key]:
    """Return the keys of a program, each with its terms in the continuing inputs."""
    return [
        Key(
            key.name,
            key.type,
            tuple(" or ".join(key_meaning(given.input, key.name)) for given in inputs),
            key_column(operator, key.name),
        )
        for key in operator.keys
    ]


def _keys(id_: str, keys: KeyPlan, *, is_merged: bool) -> Iterator[Finding]:
    """Yield the findings on keys; ``is_merged``: several remembered ids become one."""
    if is_merged:
        yield Finding("ids", "", "", Verdict.MERGED, BECOME_ONE, marked=True)
    for finding in keys.findings:
        if finding.verdict is Verdict.DROPPED and not is_merged:
            why = "what several keys have can't be made that of one: a program says what it means"
            fix = f"`{id_}: drop` begins with no keys"
            yield Finding("key", finding.old, None, Verdict.IMPOSSIBLE, why, fix)
        else:
            yield finding


def _inputs(versions: Versions, id_: str, old: Program, new: Program) -> Iterator[Finding]:
    names = [given.alias for given in new.inputs]
    for before, after in _pairs(old, new):
        found = input_findings(
            *(versions, id_, before.input, after.input),
            after.alias if len(names) > 1 else "",
            columns=True,
        )
        yield from found
    if len(old.inputs) != len(new.inputs):
        more = len(new.inputs) > len(old.inputs)
        why = f"rows of {'one more' if more else 'one less'} input are handled from the cut on"
        yield marked(versions, id_, "inputs", "", why, "mixed")


def _pairs(old: Program, new: Program) -> Iterator[tuple[ProgramInput, ProgramInput]]:
    """Yield the continuing inputs: by name, else by position."""
    before = {given.alias: given for given in old.inputs}
    names = {given.alias for given in new.inputs}
    free = [given for given in old.inputs if given.alias not in names]
    for given in new.inputs:
        if given.alias in before:
            yield before[given.alias], given
        elif free:
            yield free.pop(0), given


def _handlers(
    versions: Versions, id_: str, old: Program, new: Program, columns: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield a finding when the statements differ; those of a query define what its state means."""
    if old.statements == new.statements:
        if old.code != new.code:
            why = "its code is another from the cut on; what has been set stays"
            yield Finding("handlers", "", "", Verdict.KEPT, f"{why} ({NOT_SEEN})")
        return
    if new.declared:
        why = "statements are others from the cut on; what has been set stays"
        yield Finding("handlers", "", "", Verdict.KEPT, why)
    elif same_statements(old, new, columns):
        return
    elif narrower_frames(old, new, columns):
        why = "its frames are shorter: rows that are kept and that they have passed go unread"
        yield Finding("query", "", "", Verdict.KEPT, why)
    else:
        why = "the query asks for something else: what is kept was chosen by what it asked before"
        yield marked(versions, id_, "query", "", why, "mixed")


def _window(id_: str, old: Program, new: Program) -> Iterator[Finding]:
    """Yield the finding on the window of a program with panes, which is one of its keys."""
    windows = [old.window, new.window]
    if windows == [None, None]:
        return
    before, after = (None if window is None else window_text(window) for window in windows)
    shapes = [
        None if w is None else (shape(w), w.column, w.time, w.kind == "session") for w in windows
    ]
    if shapes[0] == shapes[1]:
        yield Finding("window", before, after, Verdict.KEPT)
    else:
        why = "a window that gives panes is a program, and what several have can't be made one's"
        fix = f"`{id_}: drop` begins with new windows"
        yield Finding("window", before, after, Verdict.IMPOSSIBLE, why, fix)


# Values.


def _values(
    versions: Versions, id_: str, old: Program, new: Program, columns: Mapping[str, str]
) -> tuple[list[Finding], list[CellChange]]:
    """Return the findings on values, and the SQL of each new one.

    ``columns`` has the new name of each cell of a query that still computes the same.
    """
    before = {cell.id: cell for cell in old.cells if cell.kind == "value"}
    cells = [cell for cell in new.cells if cell.kind == "value"]
    same = {now: was for was, now in columns.items()}
    pairs = successors(
        *(versions, id_, before, cells),
        lambda was, now: holds_all_by_name(was.type, now.type),
    )
    findings: list[Finding] = []
    made: list[CellChange] = []
    for cell in cells:
        name = cell.id
        source = before.get(same[name]) if name in same else pairs.sources.get(name)
        other = not new.declared and source is not None and name == source.id
        is_set = ("operators", id_, "set", name) in versions.decisions.values
        if other and is_another(old, new, cell) and not is_set:
            finding, expression = _another(versions, id_, old, new, cell)
        else:
            finding, expression = _value(versions, id_, cell, source)
        if name in pairs.maybe and new.declared:
            finding = asked(id_, "cell", name, pairs.maybe[name], finding.why)
        findings.append(finding)
        made.append(made_cell(name, expression))
    findings += dropped("cell", before, findings)
    return findings, made


def _another(
    versions: Versions, id_: str, old: Program, new: Program, cell: ProgramCell
) -> tuple[Finding, str]:
    """Return the finding on a cell of a query that computes something else under its name.

    The changed query itself is a question where its statements are compared.
    """
    name, start = cell.id, _start(cell)
    again = computed(versions, id_, "cell", name, name)
    if again is not None:
        return again, start
    was, now = ("; ".join(folds(entry, name)) for entry in (old, new))
    why = f"it was `{was}` and is `{now}`, which is another value"
    return Finding("cell", name, name, Verdict.EMPTY, why, marked=True), start


def _start(cell: ProgramCell) -> str:
    """Return the initial value of a cell, in SQL."""
    return cast("NULL", cell.type) if cell.default is None else cell.default


def dropped(
    part: str, before: Mapping[str, ProgramCell], findings: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield the dropped parts."""
    told = {finding.old for finding in findings}
    for name in before:
        if name not in told:
            yield Finding(part, name, None, Verdict.DROPPED, "it is declared no more")


def _value(
    versions: Versions, id_: str, cell: ProgramCell, old: ProgramCell | None
) -> tuple[Finding, str]:
    name, path = cell.id, ("operators", id_, "set", cell.id)
    decided = versions.decisions.get(*path)
    was = None if old is None else old.id
    if decided is not None:
        finding = Finding("cell", was, name, Verdict.CONVERTED, f"as decided: {decided}")
        return finding, decided
    default, start = cell.default, _start(cell)
    again = computed(versions, id_, "cell", name, was)
    if again is not None:
        return again, start
    if old is None:
        why = "no value is set" if default is None else f"each key has its default {default}"
        return Finding("cell", None, name, Verdict.EMPTY, why), start
    column = in_its_type(identifier(old.id), old.type)
    said = [f"it was called `{was}`"] if was != name else []
    said += _lifetime(old, cell)
    if old.type == cell.type and old.default != cell.default:
        said.append("what has not been set reads as the new default, what has began with the old")
    marked = old.default != cell.default
    if old.type == cell.type:
        return Finding("cell", was, name, Verdict.KEPT, "; ".join(said), marked=marked), column
    made = converted(column, old.type, cell.type)
    if holds_all_by_name(old.type, cell.type):
        said.insert(0, f"{old.type} to {cell.type}, exactly")
        return Finding("cell", was, name, Verdict.CONVERTED, "; ".join(said)), made
    reason = f"{cell.type} does not hold all of {old.type}"
    finding = Finding(
        *("cell", was, name, Verdict.CONVERTED, reason, "say how, by `set`"),
        open=Decision(path, made),
    )
    return finding, made


def _lifetime(old: ProgramCell, new: ProgramCell) -> list[str]:
    if old.ttl == new.ttl:
        return []
    if new.ttl is None:
        return ["it is kept for good from the cut on"]
    if old.ttl is None:
        return [f"it is forgotten {new.ttl} after the cut"]
    return [f"it is forgotten {new.ttl} after it was written, not {old.ttl}"]


# Waiting rows.


def _waiting(
    versions: Versions, old: Program, new: Program
) -> tuple[list[Finding], list[WaitingChange]]:
    """Return the findings on waiting rows, and the SQL of their columns."""
    id_ = new.id
    findings: list[Finding] = []
    made: list[WaitingChange] = []
    told: set[str] = set()
    for before, after in _pairs(old, new):
        was = waiting_columns(versions.old, old.id, before.alias)
        now = waiting_columns(versions.new, id_, after.alias)
        told.add(before.alias)
        if was is None:
            continue
        if now is None:
            findings += list(_unwaited(versions, id_, before.alias, was))
            continue
        columns, expressions = plan_columns(
            *(versions, id_, after.alias, (before.input, after.input), (was, now))
        )
        findings += columns
        made.append(WaitingChange(after.alias, before.alias, tuple(expressions)))
    for given in old.inputs:
        was = waiting_columns(versions.old, old.id, given.alias)
        if given.alias not in told and was is not None:
            findings += list(_unwaited(versions, id_, given.alias, was))
    return findings, made


def _unwaited(
    versions: Versions, id_: str, alias: str, columns: Sequence[Column]
) -> Iterator[Finding]:
    """Yield the findings on waiting rows without a new input, which are lost."""
    path = ("operators", id_, "accept", f"waiting {alias}")
    accepted = versions.decisions.get(*path) == "drop"
    verdict = Verdict.DROPPED if accepted else Verdict.IMPOSSIBLE
    why = "rows that wait for the watermark have been read, and would never be handled"
    fix = None if accepted else f"`accept: {{waiting {alias}: drop}}` loses them"
    open_ = None if accepted else Decision(path, "drop", ("drop",))
    for column in columns:
        name = f"column {alias}"
        yield Finding(name, column.name, None, verdict, why, fix, marked=accepted, open=open_)
