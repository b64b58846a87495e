"""What the compiler knows about a kind of step: an interface, implemented by one class per kind.

No default decides anything: an incomplete kind can't be instantiated, and so the package that
registers it can't be imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from ...contracts import plan
from ...dsl.ast.expressions import Expression
from ...dsl.reports.diagnostics import Diagnostic
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
    """The interface of every kind; each is a ``RowKind`` or a ``RootKind``, or both."""

    @property
    @abstractmethod
    def step(self) -> type[S]:
        """The class of its steps."""

    @abstractmethod
    def lines(self, step: S) -> Iterable[str]:
        """Return the lines that describe a step, resolved and typed."""

    @abstractmethod
    def words(self, step: S) -> str:
        """Return what a step does in a few words, none where the script is as clear."""

    @abstractmethod
    def reads(self, step: S, heads: frozenset[str]) -> Iterable[Expression]:
        """Return the expressions that determine these columns of a step, and its rows."""

    @abstractmethod
    def windows(self, step: S) -> tuple[Window, ...]:
        """Return the windows that a step opens."""

    @abstractmethod
    def identity(self, step: S, before: Identity | None) -> Identity | None:
        """Return what distinguishes a step's rows, given that of its input, or None."""


class RowKind(StepKind[S]):
    """A kind of step over the rows of the step before it."""

    @abstractmethod
    def script(self, step: S, rows: Chain) -> Chain:
        """Return the DataFrame of a step over another."""

    @abstractmethod
    def columns(self, step: S, before: Columns) -> Columns:
        """Return the columns of a step over others."""

    @abstractmethod
    def needs(self, step: S, demand: Demand) -> Demand:
        """Return what a step needs of its input rows, given what is needed of its output rows."""

    @abstractmethod
    def branches(self, step: S, before: Branches) -> Branches:
        """Return the origins of a step's rows, given those of its input."""


class RootKind(StepKind[S]):
    """A kind of step that begins a relation: it reads inputs of its own."""

    @abstractmethod
    def frame(self, step: S) -> Chain:
        """Return the DataFrame of a step over its inputs."""

    @abstractmethod
    def feeds(self, step: S, demand: Demand, of: ColumnsOf) -> Iterable[Feed]:
        """Return the inputs of a step, in Spark's order, and what it needs of them."""

    @abstractmethod
    def own_columns(self, step: S, relation: Relation, upstream: Upstream) -> Columns:
        """Return the columns of the rows that a step emits in a relation which begins with it."""

    @abstractmethod
    def own_branches(self, step: S, relation: Relation, upstream: Upstream) -> Branches:
        """Return the origins of these rows."""


class OperatorKind(StepKind[K]):
    """A kind of step that keeps state."""

    @abstractmethod
    def says(self, step: K) -> tuple[type[Step], ...]:
        """Return the classes of the preceding steps that its words cover."""

    @abstractmethod
    def use(self, step: K, demand: Demand) -> StateUse:
        """Return what a query with this demand keeps of a step."""

    @abstractmethod
    def kept(self, step: K, use: StateUse) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Return the columns that a query keeps of each input, with the input's words."""

    @abstractmethod
    def describe(self, step: K, place: Place) -> plan.Operator:
        """Return the plan's entry: what a step keeps, under which keys, and of which rows."""

    @abstractmethod
    def describe_use(self, step: K, use: StateUse) -> plan.Use:
        """Return what a query keeps of a step."""

    @abstractmethod
    def facts(self, step: K, graph: OperatorGraph) -> Iterable[Fact]:
        """Return the facts about a step's state."""

    # What may be below it and above it in a query.

    @property
    @abstractmethod
    def noun(self) -> str:
        """The name of a step in messages, with its article."""

    @property
    @abstractmethod
    def appends(self) -> bool:
        """Whether Spark runs it only in append mode: nothing above it may emit changes."""

    @property
    @abstractmethod
    def in_rocksdb(self) -> bool:
        """Whether its state is always in RocksDB, whatever the pipeline's setting."""

    @abstractmethod
    def changes(self, step: K) -> bool:
        """Return whether rows of a step replace earlier ones, so that its query emits changes."""

    @abstractmethod
    def lag(self, step: K) -> int | None:
        """Return by how many microseconds its rows may be older than its watermark.

        None if they are not; the watermark of what reads such rows lags by that.
        """

    @abstractmethod
    def gives_old_rows(self, step: K) -> bool:
        """Return whether its rows may be older than the watermark of the query."""

    @abstractmethod
    def by_query_watermark(self, step: K) -> bool:
        """Return whether it uses the query's watermark, not its own, to determine late rows."""

    @abstractmethod
    def refused(self, step: K, relation: Relation, below: Schema) -> Iterable[Diagnostic]:
        """Return why Spark can't run a step of a relation over rows with these columns."""
