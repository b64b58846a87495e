"""UNION ALL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress

from ..model.pipeline import Relation
from ..model.steps import Branch, LateRows, Union
from ..pyspark.layout import Call, Chain
from .kind import RootKind
from .registry import kind_of
from .relation import branches_after, columns_after, frame_after
from .rows.columns import Columns, ColumnsOf
from .rows.identity import Identity
from .rows.needed import Demand, Feed, named
from .rows.origins import Branches, Upstream


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

    def reads(self, step: Union, heads: frozenset[str]) -> tuple[()]:
        return ()

    def windows(self, step: Union) -> tuple[()]:
        return ()

    def identity(self, step: Union, before: Identity | None) -> None:
        return None

    def frame(self, step: Union) -> Chain:
        first, *others = (frame_after(Chain(b.input), b.steps) for b in step.branches)
        return first.then(*(Call("union", (other.text(),), open=True) for other in others))

    def feeds(self, step: Union, demand: Demand, of: ColumnsOf) -> Iterator[Feed]:
        heads = demand.heads
        needed = [name in heads for name in _names(step.branches[0], of)]
        for branch in step.branches:
            own = compress(_names(branch, of), needed)
            yield Feed(branch.input, Demand(named(own)), branch.steps)

    def own_columns(self, step: Union, relation: Relation, upstream: Upstream) -> Columns:
        first = step.branches[0]
        return columns_after(upstream.columns(first.input), first.steps)

    def own_branches(self, step: Union, relation: Relation, upstream: Upstream) -> Branches:
        """Return all branches with the names of the first one: columns match by position."""
        names = [(name,) for name in _names(step.branches[0], upstream.columns)]
        found = (
            one
            for branch in step.branches
            for one in branches_after(upstream.of(branch.input), branch.steps)
        )
        return tuple(one.called(dict(zip(names, one.terms.values(), strict=True))) for one in found)


def _names(branch: Branch, of: ColumnsOf) -> tuple[str, ...]:
    """Return the names of columns in a branch; those of the union have the first one's names."""
    return tuple(columns_after(of(branch.input), branch.steps))
