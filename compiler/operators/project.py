"""A select list."""

from __future__ import annotations

from ..model.steps import Project
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from .kind import RowKind


class ProjectKind(RowKind[Project]):
    """Columns made anew; the script is there to be read, and words say nothing of it."""

    step = Project

    def lines(self, step: Project) -> list[str]:
        return ["project", *(f"  {column}" for column in step.columns)]

    def words(self, step: Project) -> str:
        return ""

    def script(self, step: Project, rows: Chain) -> Chain:
        return rows.then(Call("select", tuple(map(columns.output, step.columns)), open=True))
