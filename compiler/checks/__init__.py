"""What is wrong with a pipeline as a whole, or worth a warning. One concern a module.

- ``chains``: steps that can't stand behind each other in one Spark query.
- ``unused``: declarations that nothing reads.
"""

from collections.abc import Callable, Iterator

from ...dsl.diagnostics import Diagnostic
from ..graph.graph import OperatorGraph
from .chains import check_chains
from .unused import check_unused

CHECKS: tuple[Callable[[OperatorGraph], Iterator[Diagnostic]], ...] = (check_chains, check_unused)

__all__ = ["CHECKS"]
