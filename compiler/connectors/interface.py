"""What the compiler has to know about a connector: one class for it and one for each of its roles.

Nothing has a default here, so that an incomplete connector can't be imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ...contracts.sinks import SinkPromise
from ...dsl.ast import statements as st
from ...dsl.reports.diagnostics import Diagnostic
from ..model.pipeline import Endpoint
from ..model.schema import Field, Schema
from .options import ADDING, REFRESH, REPLACING, Concern, Option
from .spark_options import PREFIX, SparkOptions

Declares: TypeAlias = st.CreateSource | st.CreateTable
"""The statements that declare columns."""


class Role(ABC):
    """A connector as a source, a table or a sink; ``WORD`` is which."""

    WORD: str

    @property
    @abstractmethod
    def options(self) -> tuple[Option, ...]:
        """Its own options, in the order of scripts and plans."""

    @property
    @abstractmethod
    def one_of(self) -> tuple[str, ...]:
        """Options of which exactly one must be given; may be empty."""

    @property
    @abstractmethod
    def spark(self) -> SparkOptions | None:
        """What it passes on to Spark; None for nothing."""

    @property
    def accepted(self) -> tuple[Option, ...]:
        """All options that a declaration may have: its own, and those of its role."""
        return self.options

    def option(self, name: str) -> Option | None:
        """Return the option of that name."""
        return next((one for one in self.accepted if one.name == name), None)

    def about(self, *concerns: Concern) -> tuple[str, ...]:
        """Return the names of the options that have one of these concerns."""
        return tuple(one.name for one in self.accepted if one.concern in concerns)

    @property
    def position(self) -> tuple[str, ...]:
        """The options that identify the data that a position refers to or an output goes to."""
        return self.about(Concern.SERVER, Concern.PLACE)


class Reader(Role):
    """What sources and tables have in common."""

    @property
    @abstractmethod
    def reads_files(self) -> bool:
        """Whether its rows are in files, as are the rows that a test gives to any source."""

    @abstractmethod
    def check_columns(
        self, node: Declares, point: Endpoint, columns: tuple[Field, ...]
    ) -> Iterator[Diagnostic]:
        """Yield the declared columns that it can't have."""


class SourceRole(Reader):
    """A connector that gives rows as they arrive."""

    WORD = "source"

    @property
    @abstractmethod
    def metadata(self) -> Mapping[str, str]:
        """What it knows about each row besides its columns, by key, with the type."""

    @property
    @abstractmethod
    def may_be_malformed(self) -> bool:
        """Whether a row can deviate from the declared columns."""

    def changes_rows(self, option: str) -> bool:
        """Return whether an option, by its name in plans, changes which rows or values are read."""
        if not option.startswith(PREFIX):
            return option in self.about(Concern.VALUES)
        return self.spark is None or not self.spark.is_neutral(option.removeprefix(PREFIX))


class TableRole(Reader):
    """A connector whose rows are read as a whole, as reference data."""

    WORD = "table"

    @property
    def accepted(self) -> tuple[Option, ...]:
        return (*self.options, REFRESH)


class SinkRole(Role):
    """A connector to which rows are written."""

    WORD = "sink"

    @property
    @abstractmethod
    def promise(self) -> SinkPromise:
        """What it guarantees; this decides whether it can replace rows."""

    @property
    @abstractmethod
    def takes_changes(self) -> bool:
        """Whether it accepts rows that replace earlier ones without replacing any."""

    @property
    @abstractmethod
    def sends_key(self) -> bool:
        """Whether a key has a meaning without upserts too: it is sent along with a row."""

    @abstractmethod
    def check_columns(
        self, node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
    ) -> Iterator[Diagnostic]:
        """Yield the written columns that it can't hold."""

    @property
    def accepted(self) -> tuple[Option, ...]:
        return (*self.options, *(REPLACING if self.promise.upserts else ADDING))


class InProcessSink(SinkRole):
    """A sink inside the job: it accepts columns of any name and type, and no option of Spark."""

    one_of = ()
    spark = None
    sends_key = False

    def check_columns(
        self, node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
    ) -> Iterator[Diagnostic]:
        yield from ()


class Connector(ABC):
    """A connector, named in ``connector = '…'``."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in specs, scripts and plans."""

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

    @property
    @abstractmethod
    def elsewhere(self) -> Mapping[str, str]:
        """Replacements for connectors of other engines, by their names there in lower case."""
