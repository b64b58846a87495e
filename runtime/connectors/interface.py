"""What the runtime has to know of a connector: a class a connector, and one for each of its roles.

Nothing has a default here, so that a connector which leaves a part out can't be imported. What the
compiler has to know as well stands in `contracts`: promises of sinks, metadata, formats.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...contracts.sinks import SinkPromise
from ..spark.packages import Package
from ..state.checkpoints import SourceLog
from ..state.state import State
from ..storage.disk import Disk
from ..storage.file_system import Storage
from .reading import Declaration, Reading, TableDeclaration
from .upserts import Upsert

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


class Role(ABC):
    """A connector as a source, a table or a sink."""

    @abstractmethod
    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        """What Spark needs besides, by the options that a plan has of a declaration."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Why some rows can't be reread, and how to make them available."""

    reason: str
    help: str


@dataclass(frozen=True, slots=True)
class ReadBefore:
    """A source as a savepoint has it.

    `position` is None for one that has had nothing yet, `log` what the source itself has noted, as
    paths below `folder`. `there` is whether a file, by its path or URL, is there.
    """

    name: str
    options: Mapping[str, str]
    position: Any
    log: SourceLog | None
    folder: str
    disk: Disk
    there: Callable[[str], bool]


class BatchPositions(ABC):
    """What the positions of a source say about the batches in which its rows came."""

    @abstractmethod
    def batches_at(self, position: Any) -> int:
        """The number of batches up to a position."""

    @abstractmethod
    def position_after(self, batches: int) -> Any:
        """The position after that many batches."""


class Replay(ABC):
    """How a source provides the rows between two positions again, to compute state anew."""

    @property
    @abstractmethod
    def batches(self) -> BatchPositions | None:
        """How its positions count batches; None if they say nothing about them."""

    @abstractmethod
    def lacks(self, source: ReadBefore) -> Iterator[Lack]:
        """Yields which rows may not come again, as far as that can be known without reading."""


class SourceRole(Role):
    """A connector that gives rows as they arrive.

    Its positions are Spark's own. The gate of a run stands before whatever frame it gives.
    """

    @property
    @abstractmethod
    def replay(self) -> Replay | None:
        """How rows of the past come again; None if they don't."""

    @abstractmethod
    def read(self, spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
        """The rows of a source as a streaming frame, under its own name, and its malformed rows.

        Raises RuntimeFault for options that it has not, and for what can't be had.
        """


class TableRole(Role):
    """A connector whose rows are read as a whole, as reference data."""

    @abstractmethod
    def table(self, spark: SparkSession, storage: Storage, table: TableDeclaration) -> Any:
        """The kernel's table, which has a `frame` for joins and is read by `read`.

        Raises RuntimeFault for options that it has not, and for what can't be had.
        """


class Sink(ABC):
    """One sink of a relation, by whatever connector. `write` returns the rows it got, or None.

    It is opened in three steps, see `open_sinks`: `check` raises RuntimeFault when it cannot be,
    and changes nothing; `claim` notes whose the output is; `open` makes the output what the state
    says it is, which after a rollback is less than what was written.
    With an `upsert` it is given one row of each key: the latest.
    """

    name: str
    upsert: Upsert | None

    @property
    @abstractmethod
    def reads_batch_once(self) -> bool:
        """Whether `write` reads all of the batch, in one Spark job, and counts its rows."""

    @property
    @abstractmethod
    def runs_users_code(self) -> bool:
        """Whether what `write` raises may come from code of the user's."""

    @abstractmethod
    def check(self) -> None: ...

    @abstractmethod
    def claim(self) -> None: ...

    @abstractmethod
    def open(self) -> None: ...

    @abstractmethod
    def write(self, batch: DataFrame, batch_id: int) -> int | None: ...

    @abstractmethod
    def acknowledged(self) -> Mapping[str, int]:
        """More about the last batch, as numbers that a barrier notes."""

    @abstractmethod
    def kept_rows(self) -> Sequence[Row] | None:
        """The rows that it keeps for whoever called the run; None if it keeps none."""


class UnownedSink(Sink):
    """A sink without an output that somebody could own, nor one that could be cut back."""

    def check(self) -> None:
        """There is nothing to check."""

    def claim(self) -> None:
        """There is nothing to own."""

    def open(self) -> None:
        """It needs no preparation."""

    def acknowledged(self) -> Mapping[str, int]:
        return {}


@dataclass(frozen=True, slots=True)
class SinkRequest:
    """What a sink is made of.

    Its connector takes its own options out of `options`; one that is left is refused. `keep` is how
    many batches may come again, `show` prints for the user, in `folders` modules are looked for.
    """

    name: str
    query: str
    options: dict[str, Any]
    key: tuple[str, ...]
    upsert: Upsert | None
    state: State
    keep: int
    show: Callable[[str], None]
    folders: Sequence[str]

    @property
    def owner(self) -> str:
        """The sink as messages name it."""
        return f"sink `{self.name}`"


class SinkRole(Role):
    """A connector that rows are written to."""

    @property
    @abstractmethod
    def promise(self) -> SinkPromise:
        """What it promises; by that it can replace rows or not."""

    @property
    @abstractmethod
    def writer(self) -> Callable[[SinkRequest], Sink]:
        """The class of its sinks."""

    @property
    @abstractmethod
    def distributions(self) -> tuple[str, ...]:
        """The distributions of Python packages that its sinks import besides PySpark."""


class InProcessSink(SinkRole):
    """A sink inside of the job, which needs nothing besides Spark."""

    distributions = ()

    def packages(self, options: Mapping[str, str]) -> tuple[Package, ...]:
        return ()


class Connector(ABC):
    """What stands behind a name in `connector = '…'`."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What specs, scripts and plans call it."""

    @property
    @abstractmethod
    def source(self) -> SourceRole | None:
        """How it is read as a source."""

    @property
    @abstractmethod
    def table(self) -> TableRole | None:
        """How it is read as a table."""

    @property
    @abstractmethod
    def sink(self) -> SinkRole | None:
        """How it is written to."""
