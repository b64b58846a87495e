"""The kinds of operators: what the runtime knows of each one, a module or a package a kind.

A kind says how Spark lays out its state, how that becomes tables with names and how stores are
filled from such tables, what becomes of its rows in a batch, and what a migration makes of its
tables.

- ``kind``: the interface; ``registry``: the kinds by the names that plans have for them.
- ``layout``: the plan's state against Spark's own, operator by operator; ``layout_lines``: what
  is compared of one.
- ``counts``: counters of Spark's plan, and the identities that they must keep.
- ``conversion``: what a migration computes of rows; ``filling``: cells of another state.

``aggregate`` and ``top_n`` have what ``groups`` say, ``deduplication``, ``join``, ``program``.
"""

from .aggregate import AggregateKind
from .deduplication import DeduplicationKind
from .join import JoinKind
from .program.kind import ProgramKind
from .registry import register
from .top_n import TopNKind

for _kind in (AggregateKind(), DeduplicationKind(), JoinKind(), ProgramKind(), TopNKind()):
    register(_kind)
