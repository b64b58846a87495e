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
    """What holds of the operators of a kind."""

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
        """The parts of what the plan says of one, each beside what Spark plans."""

    @abstractmethod
    def read(self, stores: Stores, use: UseOf[Kind]) -> Kept:
        """What one keeps in a query."""

    @abstractmethod
    def restore(self, stores: NewStores, use: UseOf[Kind], tables: Mapping[str, DataFrame]) -> int:
        """Has one keep what tables say, and returns how many rows that is.

        Raises RuntimeFault when a table lacks a column that a store has.
        """

    @abstractmethod
    def takes_its_state(self, operator: Kind) -> bool:
        """Whether one is given its state as input of the first batch, and so not by `restore`."""

    # What becomes of its rows.

    @abstractmethod
    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        """The ledger's entry of one in a batch, and what must add up at a `place`."""

    @property
    @abstractmethod
    def closes_with_window(self) -> bool:
        """Whether one gives a row no later than its window ends."""

    @abstractmethod
    def depends_on_batches(self, operator: Kind) -> bool:
        """Whether what one keeps depends on how its input was cut into batches."""

    # What a migration makes of a savepoint: methods of the kind that an operator had in it.

    @abstractmethod
    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        """The tables without what does not fulfil a condition."""

    @abstractmethod
    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Kind,
    ) -> Iterable[Conversion]:
        """What is made of each table, before rows are merged."""

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

        Raises RuntimeFault for what would have two meanings.
        """

    @abstractmethod
    def reads(self, change: OperatorChange) -> Iterable[tuple[str, Sequence[str]]]:
        """The columns that a change reads of each table of which one of several queries lacks some.

        What all queries keep alike is left out.
        """

    # What a new version keeps: methods of the kind that an operator has then.

    @abstractmethod
    def alive(self, change: OperatorChange, use: UseOf[Kind]) -> OperatorChange:
        """A change without what the query of a use does not keep."""

    @abstractmethod
    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: Kind,
    ) -> Filled:
        """Tables with these cells as they are in another state of the same operator.

        Raises RuntimeFault when Spark alone could make a cell of a key that is not there.
        """
