"""What the compiler knows of a kind of step: an interface, one class a kind against it.

Nothing has a default that decides anything: a kind that leaves a part out can't be made, and so the
package that registers it can't be imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from ...contracts import plan
from ...dsl.ast.expressions import Expression
from ..model.graph import StateUse
from ..model.pipeline import Relation
from ..model.steps import Stateful, Step
from ..pyspark.layout import Chain
from .rows.columns import Columns, ColumnsOf
from .rows.identity import Identity
from .rows.needed import Demand, Feed
from .rows.origins import Branches, Place, Upstream

S = TypeVar("S", bound=Step)
K = TypeVar("K", bound=Stateful)


class StepKind(ABC, Generic[S]):
    """What holds of every kind; each one is a ``RowKind`` or a ``RootKind``, or both."""

    @property
    @abstractmethod
    def step(self) -> type[S]:
        """The class of its steps."""

    @abstractmethod
    def lines(self, step: S) -> Iterable[str]:
        """Return the lines that say what a step does, resolved and typed."""

    @abstractmethod
    def words(self, step: S) -> str:
        """Return what a step does in a few words, none where the script says it as well."""

    @abstractmethod
    def reads(self, step: S, heads: frozenset[str]) -> Iterable[Expression]:
        """Return the expressions that decide what these columns of a step are in which rows."""

    @abstractmethod
    def identity(self, step: S, before: Identity | None) -> Identity | None:
        """Return what tells the rows of a step apart, of which ``before`` did; None if nothing."""


class RowKind(StepKind[S]):
    """A kind of step over the rows of the step before it."""

    @abstractmethod
    def script(self, step: S, rows: Chain) -> Chain:
        """Return the DataFrame that a step makes of another."""

    @abstractmethod
    def columns(self, step: S, before: Columns) -> Columns:
        """Return the columns that a step makes of others."""

    @abstractmethod
    def needs(self, step: S, demand: Demand) -> Demand:
        """Return what a step needs of its rows, given what is needed of those that it makes."""

    @abstractmethod
    def branches(self, step: S, before: Branches) -> Branches:
        """Return what the rows of a step are made of, given that of those before it."""


class RootKind(StepKind[S]):
    """A kind of step that a relation begins with: it reads inputs of its own."""

    @abstractmethod
    def frame(self, step: S) -> Chain:
        """Return the DataFrame that a step makes of its inputs."""

    @abstractmethod
    def feeds(self, step: S, demand: Demand, of: ColumnsOf) -> Iterable[Feed]:
        """Return what a step reads, in Spark's order, and what it needs of that."""

    @abstractmethod
    def own_columns(self, step: S, relation: Relation, upstream: Upstream) -> Columns:
        """Return the columns of the rows that a step gives in a relation which begins with it."""

    @abstractmethod
    def own_branches(self, step: S, relation: Relation, upstream: Upstream) -> Branches:
        """Return what these rows are made of."""


class OperatorKind(StepKind[K]):
    """A kind of step that keeps state."""

    @abstractmethod
    def says(self, step: K) -> tuple[type[Step], ...]:
        """Return the classes of the steps before it that its words speak for."""

    @abstractmethod
    def use(self, step: K, demand: Demand) -> StateUse:
        """Return what a query keeps of a step of which it has a demand."""

    @abstractmethod
    def kept(self, step: K, use: StateUse) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Return the columns that a query keeps of each input, with the words for it."""

    @abstractmethod
    def describe(self, step: K, place: Place) -> plan.Operator:
        """Return what a step keeps, under which keys, and of which rows."""

    @abstractmethod
    def describe_use(self, step: K, use: StateUse) -> plan.Use:
        """Return what a query keeps of a step."""
