"""What a migration does to a savepoint, as text: a paragraph for each operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from ..shared.columns import aligned, size, watermark

if TYPE_CHECKING:
    from ...contracts.savepoint import Savepoint
    from ...runtime.savepoints.inspect.preview import OperatorPreview, Preview
    from ...runtime.savepoints.inspect.samples import Sample
    from ...runtime.savepoints.migrate.failing import Failing
    from ...runtime.savepoints.migrate.watermarks import Incomplete, MovedTimer

_WIDEST = 48
"""A longer value is cut."""
_PAGE = 100


def preview_text(savepoint: Savepoint, preview: Preview) -> str:
    """Return the figures of all operators, after a line that names the savepoint."""
    head = (
        f"savepoint {savepoint.name}, version {savepoint.version}: barrier {savepoint.barrier}, "
        f"watermark {watermark(savepoint.watermark_ms)}, {_amount(savepoint.rows, 'row')}, "
        f"{size(savepoint.bytes)}"
    )
    parts = ["\n".join(_operator(one)) for one in preview.operators]
    return "\n" + "\n\n".join([head, *parts]) + "\n"


def _operator(one: OperatorPreview) -> Iterator[str]:
    saved = one.saved
    yield f"state of {saved.id}: {_amount(saved.rows, 'row')}, {size(saved.bytes)}"
    for table in saved.tables.values():
        lines = [(name, size(held)) for name, held in one.column_bytes[table.name].items()]
        if len(saved.tables) > 1:
            yield f"  {table.name}: {_amount(table.rows, 'row')}, {size(table.bytes)}"
        indent = "    " if len(saved.tables) > 1 else "  "
        yield from (f"{indent}{line}" for line in aligned(lines) if table.rows)
    if one.incomplete is not None:
        yield from _incomplete(one.incomplete)
    for timer in one.timers:
        yield _timer(timer)
    for failure in one.failing:
        yield from _failing(failure)
    if one.refused is not None:
        yield f"  rejected: {one.refused}"
    for sample in one.samples:
        yield from _sample(sample)


def _incomplete(found: Incomplete) -> Iterator[str]:
    passed = watermark(found.watermark_ms)
    if found.start_ms is None or found.end_ms is None:
        yield f"  sessions: {found.groups:,} may lack what closed by {passed}"
        return
    window, groups = _amount(found.closed or 0, "window"), _amount(found.groups, "group")
    start, end = watermark(found.start_ms), watermark(found.end_ms)
    if (found.windows or 1) > 1:
        yield f"  {found.windows:,} windows from {start} to {end} are incomplete: {window}"
        yield f"    in them closed by {passed} and left no state; {groups} of them continue"
        return
    yield f"  window {start} to {end} is incomplete: {window}"
    yield f"    in it closed by {passed} and left no state; {groups} of it continue"


def _timer(timer: MovedTimer) -> str:
    due = "by now" if timer.by_clock else "in the first batch"
    return (
        f"  timer {timer.name}: set for {_amount(timer.set, 'key')}, moved for {timer.moved:,}; "
        f"{timer.at_once:,} due {due}"
    )


def _failing(failure: Failing) -> Iterator[str]:
    from ...runtime.savepoints.migrate.failing import failure_help, failure_text

    first, *rest = failure_text(failure).splitlines()
    yield f"  {first}"
    for line in rest:
        yield from _wrapped(line.strip(), "     ")
    yield from _wrapped(f"help: {failure_help(failure)}", "    ")


def _wrapped(line: str, indent: str) -> list[str]:
    return wrap(line, _PAGE, initial_indent=indent, subsequent_indent=f"{indent}  ")


def _sample(sample: Sample) -> Iterator[str]:
    """Yield the columns of some rows next to what they become."""
    held = len(sample.before)
    of = f"{held:,} of {sample.rows:,}" if sample.rows > held else f"{held:,}"
    yield f"  sample of {sample.table}" + (f": {of} rows become one" if sample.rows > 1 else "")
    names = dict.fromkeys([*sample.before[0], *sample.after])
    rows = [["", *("before" for _ in sample.before), "after"]]
    for name in names:
        cells = [_cell(row, name) for row in (*sample.before, sample.after)]
        rows.append([name, *cells])
    yield from (f"    {line}" for line in aligned(rows, left=len(rows[0])))


def _cell(row: Mapping[str, str | None], name: str) -> str:
    if name not in row:
        return ""
    text = row[name]
    if text is None:
        return "NULL"
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _amount(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
