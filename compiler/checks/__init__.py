"""Errors and warnings about a pipeline as a whole, one concern per module.

- ``backends``: whether state may be in memory.
- ``chains``: steps that can't follow each other in one Spark query.
- ``chance``: random values that several queries would compute.
- ``late_rows``: whether late rows are those that the operator drops.
- ``sink_keys``: whether the key of a sink that replaces rows is the key of these rows.
- ``unused``: declarations that nothing reads.
"""

from collections.abc import Callable, Iterator

from ...dsl.reports.diagnostics import Diagnostic
from ..model.graph import OperatorGraph
from .backends import check_backends
from .chains import check_chains
from .chance import check_chance
from .late_rows import check_late_rows
from .sink_keys import check_sink_keys
from .unused import check_unused

CHECKS: tuple[Callable[[OperatorGraph], Iterator[Diagnostic]], ...] = (
    check_backends,
    check_chains,
    check_chance,
    check_late_rows,
    check_sink_keys,
    check_unused,
)

__all__ = ["CHECKS"]
