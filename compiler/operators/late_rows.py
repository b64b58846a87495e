"""The rows that are late for an operator."""

from __future__ import annotations

from ..model import types
from ..model.steps import WATERMARK, LateRows
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand
from .rows.origins import Branches, Terms, reference


class LateRowsKind(RowKind[LateRows]):
    """The rows that an operator drops, with the watermark that they missed."""

    step = LateRows

    def lines(self, step: LateRows) -> list[str]:
        of = f" in {step.window}" if step.window is not None else ""
        after = f" after {step.lateness}" if step.lateness is not None else ""
        return [f"late rows of {step.operator} by {step.time}{of}{after}"]

    def words(self, step: LateRows) -> str:
        return f"late rows of {step.operator}"

    def reads(self, step: LateRows, heads: frozenset[str]) -> tuple[()]:
        return ()

    def windows(self, step: LateRows) -> tuple[()]:
        return ()

    def identity(self, step: LateRows, before: Identity | None) -> None:
        return None

    def script(self, step: LateRows, rows: Chain) -> Chain:
        arguments = ["job.late_rows", quoted(step.time)]
        window, after = step.window, step.lateness
        if window is not None and window.kind == "session":
            after = window.size
        elif window is not None:
            arguments.append(f"window={quoted(window.size.text)}")
            if window.kind == "hop" and window.slide is not None:
                arguments.append(f"every={quoted(window.slide.text)}")
            if window.offset is not None:
                arguments.append(f"offset={quoted(window.offset.text)}")
        if after is not None:
            arguments.append(f"after={quoted(after.text)}")
        return rows.then(Call("transform", tuple(arguments)))

    def columns(self, step: LateRows, before: Columns) -> Columns:
        return {**before, WATERMARK: types.TIMESTAMP}

    def needs(self, step: LateRows, demand: Demand) -> Demand:
        wanted = frozenset(parts for parts in demand.whole if parts[0] != WATERMARK)
        return Demand(wanted | {(step.time,)})

    def branches(self, step: LateRows, before: Branches) -> Branches:
        late = f"late for {step.operator}"
        missed: Terms = {(WATERMARK,): reference(WATERMARK)}
        return tuple(one.filtered(late).called({**one.terms, **missed}) for one in before)
