"""The kinds of steps: what the compiler knows about each, one module or package per kind.

A kind says how its steps read in text, in words and in the script, what they need from the rows
below them, what distinguishes the rows they emit, what the plan contains, what a query keeps of
their state, the facts about it, and what may be below and above them.

- ``kind``: the interface; ``registry``: the kinds by the class of their steps.
- ``rows``: the questions and answers of walks over a pipeline.
- ``facts``: facts about state, for people; ``clocks``: when watermarks reach an instant.
- ``relation``: chains of steps.
- ``windows``, ``entries``: shared parts of windows, and of operators' entries in the plan.

Steps over the rows of another: ``filter``, ``project``, ``unnest``, ``assign_window``, ``lookup``,
``late_rows``, ``every_row``. With inputs of their own: ``side_rows``, ``union``. With state:
``aggregate``, ``deduplicate``, ``top_n``, ``join``, ``program``.
"""

from .aggregate import AggregateKind
from .assign_window import AssignWindowKind
from .deduplicate import DeduplicateKind
from .every_row import EveryRowKind
from .filter import FilterKind
from .join import JoinKind
from .late_rows import LateRowsKind
from .lookup import LookupKind
from .program import ProgramKind
from .project import ProjectKind
from .registry import register
from .side_rows import SideRowsKind
from .top_n import TopNKind
from .union import UnionKind
from .unnest import UnnestKind

for _kind in (
    AggregateKind(),
    AssignWindowKind(),
    DeduplicateKind(),
    EveryRowKind(),
    FilterKind(),
    JoinKind(),
    LateRowsKind(),
    LookupKind(),
    ProgramKind(),
    ProjectKind(),
    SideRowsKind(),
    TopNKind(),
    UnionKind(),
    UnnestKind(),
):
    register(_kind)
