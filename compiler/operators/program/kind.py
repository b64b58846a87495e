"""The kind of programs."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.programs import Operator, Panes
from ...model.steps import AssignWindow, Step
from ...pyspark.layout import Chain
from ..kind import OperatorKind, RootKind, RowKind
from ..windows import window_words
from .script import operator_call
from .text import operator_lines


class ProgramKind(RowKind[Operator], RootKind[Operator], OperatorKind[Operator]):
    """A program: over inputs of its own where a relation begins with it, else over rows."""

    step = Operator

    def lines(self, step: Operator) -> Iterable[str]:
        return operator_lines(step)

    def words(self, step: Operator) -> str:
        if step.panes is not None:
            return _panes_words(step.panes, [key.name for key in step.keys[:-1]])
        by = f" for each {', '.join(key.name for key in step.keys)}" if step.keys else ""
        what = "program" if step.python is None else "class in Python"
        return f"{what}{by}{', in event-time order' if step.ordered else ''}"

    def says(self, step: Operator) -> tuple[type[Step], ...]:
        return () if step.panes is None else (AssignWindow,)

    def script(self, step: Operator, rows: Chain) -> Chain:
        return Chain(operator_call(step, [rows]))

    def frame(self, step: Operator) -> Chain:
        return Chain(operator_call(step, [Chain(given.relation) for given in step.inputs]))


def _panes_words(panes: Panes, keys: list[str]) -> str:
    by = f" by {', '.join(keys)}" if keys else ""
    words = f"panes of {window_words(panes.window)}{by}"
    if panes.early is not None:
        words += f", early every {panes.early}"
    return words + (f", late for {panes.lateness}" if panes.lateness is not None else "")
