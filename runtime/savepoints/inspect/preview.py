"""How a savepoint would migrate to another plan, in numbers, before anything starts from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ....contracts.savepoint import SavedOperator
from ...base.errors import RuntimeFault
from ...kernel.load import java_list
from ...kinds.conversion import Conversion
from ...state_tables.program_state import INNER, RECORD
from ..migrate.failing import Attempts, Failing, failing
from ..migrate.state_mapping import Fit
from ..migrate.transform import check_change
from ..migrate.watermarks import Incomplete, MovedTimer, incomplete, moved_timers
from .samples import Sample, merged_samples, samples

if TYPE_CHECKING:
    from ...storage.file_system import Storage


@dataclass(frozen=True, slots=True)
class OperatorPreview:
    """The state of an operator, and its migration.

    `new` is the operator that continues it, None if none does. `column_bytes` are compressed sizes
    by table and column; there are no samples of what does not change. `refused` is why this version
    can't carry out the migration.
    """

    saved: SavedOperator
    new: str | None
    column_bytes: Mapping[str, Mapping[str, int]]
    refused: str | None = None
    failing: tuple[Failing, ...] = ()
    samples: tuple[Sample, ...] = ()
    incomplete: Incomplete | None = None
    timers: tuple[MovedTimer, ...] = ()

    def to_document(self) -> dict[str, Any]:
        tables = [
            {
                "name": name,
                "rows": table.rows,
                "bytes": table.bytes,
                "columns": dict(self.column_bytes[name]),
            }
            for name, table in self.saved.tables.items()
        ]
        return {
            "old": self.saved.id,
            "new": self.new,
            "kind": self.saved.kind,
            "rows": self.saved.rows,
            "bytes": self.saved.bytes,
            "tables": tables,
            "refused": self.refused,
            "failing": [asdict(one) for one in self.failing],
            "samples": [asdict(one) for one in self.samples],
            "incomplete": None if self.incomplete is None else asdict(self.incomplete),
            "timers": [asdict(one) for one in self.timers],
        }


@dataclass(frozen=True, slots=True)
class Preview:
    """All operators of a savepoint, in the order of its queries."""

    operators: tuple[OperatorPreview, ...]

    @property
    def fails(self) -> bool:
        """Whether a restore would be refused: for rows that can't be converted, or altogether."""
        return any(one.failing or one.refused for one in self.operators)


def preview(storage: Storage, fit: Fit) -> Preview:
    """Reads the tables of a savepoint and tries its migration on them; nothing is written."""
    return Preview(tuple(_Figures(storage, fit).operators()))


class _Figures:
    def __init__(self, storage: Storage, fit: Fit) -> None:
        self._storage, self._fit = storage, fit
        self._spark, self._kernel = storage.session, storage.kernel
        self._attempts = Attempts(storage.kernel, storage.session)

    def operators(self) -> Iterator[OperatorPreview]:
        going: dict[str, list[str]] = {}
        for id in self._fit.converted:
            going.setdefault(str(self._fit.change(id).old), []).append(id)
        for saved in self._fit.savepoint.operators:
            for new in going.get(saved.id, [None]):
                yield self._operator(saved, new)

    def _operator(self, saved: SavedOperator, new: str | None) -> OperatorPreview:
        sizes = {name: self._column_bytes(saved, name) for name in saved.tables}
        if new is None:
            return OperatorPreview(saved, None, sizes)
        change = self._fit.change(new)
        try:
            check_change(saved, change)
        except RuntimeFault as fault:
            return OperatorPreview(saved, new, sizes, fault.message)
        found = self._fit.conversions(self._spark, new)
        fails = tuple(failing(found, self._attempts, change.nulls))
        shown, lacking = self._shown(found, saved, new, merges=not fails)
        timers = tuple(self._timers(found[0], saved.id, new))
        return OperatorPreview(saved, new, sizes, None, fails, shown, lacking, timers)

    def _column_bytes(self, saved: SavedOperator, name: str) -> dict[str, int]:
        table = saved.tables[name]
        paths = java_list(self._spark._jvm, [f"{self._fit.folder}/{p}" for p in table.files])
        held = self._kernel.Conversions.columnBytes(self._spark._jsparkSession, paths)
        return {column: int(held.get(column) or 0) for column in table.columns}

    def _shown(
        self, found: list[Conversion], saved: SavedOperator, new: str, *, merges: bool
    ) -> tuple[tuple[Sample, ...], Incomplete | None]:
        """Samples, and incomplete windows; groups with rows that can't be converted do not merge.

        All tables of an operator that merges are one.
        """
        change = self._fit.change(new)
        if not change.group:
            changing = [one for one in found if one.changes]
            return tuple(s for one in changing for s in samples(one, self._attempts)), None
        if not merges:
            return (), None
        tables = self._fit.tables(self._spark, new, None)
        assert tables is not None
        (one,) = found
        merged = tables[one.table].drop(*INNER)
        shown = tuple(merged_samples(one, merged, sessions=change.kind == "session"))
        lengths = None if change.window is None else change.window.merges
        holder = self._fit.savepoint.holder(saved.id)
        if lengths is None or holder is None:
            return shown, None
        return shown, incomplete(one.rows, merged, lengths, holder.watermark_ms)

    def _timers(self, record: Conversion, old: str, new: str) -> Iterator[MovedTimer]:
        if record.table != RECORD:
            return
        change, plan = self._fit.change(new), self._fit.plan.operators[new]
        queries = self._fit.plan.queries.values()
        query = next(one for one in queries if new in {use.id for use in one.operators})
        origin = self._fit.origin(query)
        if origin is None:
            return
        before = self._fit.savepoint.plan.operators[old]
        at = origin.next_watermark_ms
        yield from moved_timers(record, change, before, plan, at, self._attempts)
