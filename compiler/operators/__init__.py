"""The kinds of steps: what the compiler knows of each one, a module or a package a kind.

A kind says how its steps read in text, in words and in the script, what they need of the rows below
them, what tells apart those that they give, what
the plan has of them, what a query keeps of their state, what
there is to know about it, and what may stand below and above them.

- ``kind``: the interface; ``registry``: the kinds by the class of their steps.
- ``rows``: what the walks over a pipeline ask kinds, and what they answer with.
- ``facts``: what there is to know about state, for people; ``clocks``: when watermarks get where.
- ``relation``: steps one after the other.
- ``windows``, ``entries``: what windows have in common, and entries of operators in the plan.

Steps over the rows of another: ``filter``, ``project``, ``assign_window``, ``lookup``,
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
):
    register(_kind)
