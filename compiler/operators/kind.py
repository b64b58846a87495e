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
from ...dsl.diagnostics import Diagnostic
from ..model.graph import OperatorGraph, StateUse
from ..model.pipeline import Relation
from ..model.schema import Schema
from ..model.steps import Stateful, Step, Window
from ..pyspark.layout import Chain
from .facts.fact import Fact
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
    def windows(self, step: S) -> tuple[Window, ...]:
        """Return the windows that a step opens."""

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

    @abstractmethod
    def facts(self, step: K, graph: OperatorGraph) -> Iterable[Fact]:
        """Return what there is to know about a step's state."""

    # What may stand below it and above it in a query.

    @property
    @abstractmethod
    def noun(self) -> str:
        """What a step is called in messages, with its article."""

    @property
    @abstractmethod
    def appends(self) -> bool:
        """Whether Spark runs it in append mode only: nothing above it may emit changes."""

    @property
    @abstractmethod
    def in_rocksdb(self) -> bool:
        """Whether its state is in RocksDB, whatever the pipeline asks for."""

    @abstractmethod
    def changes(self, step: K) -> bool:
        """Return whether rows of a step replace earlier ones, so that its query emits changes."""

    @abstractmethod
    def lag(self, step: K) -> int | None:
        """Return by how many microseconds its rows may be older than its watermark.

        None if they are not; what reads rows that may be has a watermark that is behind by that.
        """

    @abstractmethod
    def gives_old_rows(self, step: K) -> bool:
        """Return whether its rows may be behind the watermark of the query."""

    @abstractmethod
    def by_query_watermark(self, step: K) -> bool:
        """Return whether it tells late rows by the watermark of the query, not by its own."""

    @abstractmethod
    def refused(self, step: K, relation: Relation, below: Schema) -> Iterable[Diagnostic]:
        """Return why Spark can't run a step of a relation over rows with these columns."""
