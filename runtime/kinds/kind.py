"""What the runtime knows of a kind of operator: an interface, one class a kind against it.

Nothing has a default: a kind that leaves a part out can't be made, and so the package that
registers it can't be imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from ...contracts.migration import OperatorChange
from ...contracts.plan import Operator
from ...contracts.savepoint import SavedOperator
from ..plan.plan import UseOf
from ..state_tables.stores import NewStores
from ..state_tables.tables import Kept, Stores
from .conversion import Conversion
from .counts import Counted, FlowOf, PlanNode
from .filling import Filled
from .layout_lines import Line, SparkOperator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Kind = TypeVar("Kind", bound=Operator)


class OperatorKind(ABC, Generic[Kind]):
    """All that is specific to the operators of one kind."""

    @property
    @abstractmethod
    def operator(self) -> type[Kind]:
        """Their class in the plan."""

    # What Spark keeps.

    @property
    @abstractmethod
    def spark_name(self) -> str:
        """What Spark's layout calls them."""

    @abstractmethod
    def layout(self, use: UseOf[Kind], found: SparkOperator) -> Iterable[Line]:
        """The parts of an operator's state in the plan, each next to Spark's."""

    @abstractmethod
    def read(self, stores: Stores, use: UseOf[Kind]) -> Kept:
        """The tables of an operator in a query."""

    @abstractmethod
    def restore(self, stores: NewStores, use: UseOf[Kind], tables: Mapping[str, DataFrame]) -> int:
        """Puts tables into an operator's stores; returns the number of rows.

        Raises RuntimeFault when a table lacks a column of a store.
        """

    @abstractmethod
    def takes_its_state(self, operator: Kind) -> bool:
        """Whether an operator takes its state in the first batch, instead of by `restore`."""

    # What becomes of its rows.

    @abstractmethod
    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        """The ledger entry of an operator in a batch, and the identities to check at a `place`."""

    @property
    @abstractmethod
    def closes_with_window(self) -> bool:
        """Whether an operator gives each row no later than the end of its window."""

    @abstractmethod
    def depends_on_batches(self, operator: Kind) -> bool:
        """Whether an operator's state depends on how its input was divided into batches."""

    # Migrations of a savepoint: methods of the kind that an operator had in it.

    @abstractmethod
    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        """The tables without the rows that do not fulfil a condition."""

    @abstractmethod
    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Kind,
    ) -> Iterable[Conversion]:
        """The columns made of each table, before rows are merged."""

    @abstractmethod
    def converted(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Kind,
        new: Operator,
    ) -> dict[str, DataFrame]:
        """The tables that the new operator begins with.

        Raises RuntimeFault when the result would be ambiguous.
        """

    @abstractmethod
    def reads(self, change: OperatorChange) -> Iterable[tuple[str, Sequence[str]]]:
        """The columns that a change reads of each table, where queries may keep different ones."""

    # The new version's state: methods of the kind that an operator has there.

    @abstractmethod
    def alive(self, change: OperatorChange, use: UseOf[Kind]) -> OperatorChange:
        """A change reduced to what the query of a use keeps."""

    @abstractmethod
    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: Kind,
    ) -> Filled:
        """Tables with these cells taken from another state of the same operator.

        Raises RuntimeFault for a key that is not there if only Spark could make its cell.
        """
