"""Rows generated at a steady rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ...contracts.readers import READERS
from ...dsl.reports.diagnostics import Diagnostic
from ..model.pipeline import Endpoint
from ..model.schema import Field
from .columns import only_these
from .interface import Connector, Declares, SourceRole
from .options import INTEGER, Concern, Option
from .spark_options import SparkOptions

_COLUMNS = {"timestamp": "TIMESTAMP", "value": "BIGINT"}
"""The instant of a row, and its number, counted from zero."""


class RateSource(SourceRole):
    """Rows with an instant and a number."""

    options = (
        Option(
            "rows_per_second",
            Concern.RUN,
            "how many rows there are in a second",
            kind=INTEGER,
            default="1",
            spark=("rowspersecond",),
        ),
    )
    one_of = ()
    spark = SparkOptions(("rampUpTime", "numPartitions"), {}, (), (), (), {})
    reads_files = READERS["rate"].reads_files
    metadata = READERS["rate"].metadata
    may_be_malformed = False

    def check_columns(
        self, node: Declares, point: Endpoint, columns: tuple[Field, ...]
    ) -> Iterator[Diagnostic]:
        yield from only_these(node, columns, _COLUMNS, "a rate source", "value % 10")


class Rate(Connector):
    """A clock that generates rows."""

    name = "rate"
    source = RateSource()
    table = None
    sink = None
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("datagen", "faker"), "write `connector = 'rate'`, and compute columns from its `value`"
    )
