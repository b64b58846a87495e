"""A window that is used row by row."""

from __future__ import annotations

from ..model.steps import AssignWindow
from ..pyspark.layout import Chain
from .kind import RowKind
from .windows import assigned, window_words


class AssignWindowKind(RowKind[AssignWindow]):
    """Each row with its window, once for each that it belongs to."""

    step = AssignWindow

    def lines(self, step: AssignWindow) -> list[str]:
        return [f"assign {step.window}"]

    def words(self, step: AssignWindow) -> str:
        return f"{window_words(step.window)} of each row"

    def script(self, step: AssignWindow, rows: Chain) -> Chain:
        return assigned(step.window, rows)
