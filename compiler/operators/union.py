"""UNION ALL."""

from __future__ import annotations

from ..model.steps import LateRows, Union
from ..pyspark.layout import Call, Chain
from .kind import RootKind
from .registry import kind_of
from .relation import passed


class UnionKind(RootKind[Union]):
    """The rows of all branches."""

    step = Union

    def lines(self, step: Union) -> list[str]:
        lines = ["union"]
        for branch in step.branches:
            lines.append(f"  from {branch.input}")
            lines += [f"    {line}" for one in branch.steps for line in kind_of(one).lines(one)]
        return lines

    def words(self, step: Union) -> str:
        late = [one for b in step.branches for one in b.steps if isinstance(one, LateRows)]
        if late:
            return kind_of(late[0]).words(late[0])
        return f"union of {', '.join(branch.input for branch in step.branches)}"

    def frame(self, step: Union) -> Chain:
        first, *others = (passed(Chain(b.input), b.steps) for b in step.branches)
        return first.then(*(Call("union", (other.text(),), open=True) for other in others))
