"""The plan: what the compiler reports to the runtime, a reviewer and a migration.

It is the document next to a script (``x.plan.json``). Every list and key is in an order that
follows from the spec. The modules:

- ``values``: columns, windows, and the rows that reach an operator.
- ``operators``: what keeps state, a class for each kind.
- ``parts``: what operators of several kinds have.
- ``ends``: sources, tables, sinks, functions in Python.
- ``queries``: what Spark runs, and the part of each operator that a query keeps.
- ``settings``: settings, profiles, the policy of barriers.
- ``plan``: all of it.
"""

from ..json_records import Malformed as Malformed
from .ends import ComputedColumn as ComputedColumn
from .ends import Function as Function
from .ends import FutureRows as FutureRows
from .ends import MalformedRows as MalformedRows
from .ends import MetadataColumn as MetadataColumn
from .ends import ReadColumn as ReadColumn
from .ends import Sink as Sink
from .ends import Source as Source
from .ends import Table as Table
from .ends import Watermark as Watermark
from .operators import Aggregate as Aggregate
from .operators import AggregateCell as AggregateCell
from .operators import Aggregation as Aggregation
from .operators import Bound as Bound
from .operators import Deduplication as Deduplication
from .operators import Join as Join
from .operators import Operator as Operator
from .operators import Panes as Panes
from .operators import Program as Program
from .operators import ProgramCell as ProgramCell
from .operators import ProgramInput as ProgramInput
from .operators import Side as Side
from .operators import Timer as Timer
from .operators import TopN as TopN
from .parts import aggregates_of as aggregates_of
from .parts import branches_of as branches_of
from .parts import cells_of as cells_of
from .parts import clock_of as clock_of
from .parts import columns_of as columns_of
from .parts import inputs_of as inputs_of
from .parts import key_column as key_column
from .parts import keys_of as keys_of
from .parts import sides_of as sides_of
from .parts import timers_of as timers_of
from .parts import window_of as window_of
from .plan import Plan as Plan
from .queries import Query as Query
from .queries import Use as Use
from .settings import Checkpoint as Checkpoint
from .settings import Profile as Profile
from .settings import Settings as Settings
from .values import Branch as Branch
from .values import Column as Column
from .values import Window as Window
