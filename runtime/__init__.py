"""What an emitted script runs on. It imports PySpark and the standard library only, and late.

Of other processes, those that look at a state in S3 import pyarrow.

Rooms, each of which imports only those above it:

- ``base``: faults, signals, processes, options, secrets.
- ``kernel``: the Scala that reaches what Python cannot.
- ``storage``: files on any Hadoop path, and the runtime's own small notes.
- ``plan``: what was compiled, what was requested, the settings of the run.
- ``spark``: the session, packages for connectors, the wording of Spark's failures.
- ``state``: the folder with a pipeline's progress.
- ``state_tables``: Spark's stores of operators, and the tables that they are read into.
- ``kinds``: the kinds of operators: all that is specific to one.
- ``accounting``: what happened to the rows of each batch.
- ``connectors``: sources, reference data, sinks.
- ``python``: Python functions; ``keyed``: keyed programs; ``python_operator``: operators whose
  handlers are a class.
- ``dataflow``: what a script calls: ``Job.read``, ``Job.var``, ``Job.sink``, ``Job.main``.
- ``barriers``: the same input for all queries, and the epochs that are checkpoints of all of them.
- ``savepoints``: the state as Parquet, and back.
- ``execution``: one run, its process, and how other processes observe and control it.
- ``stepping``: a pipeline fed step by step, as tests do.
"""

from ..contracts.notes.status import OperatorProgress, QueryProgress
from .base.errors import RuntimeFault
from .base.signals import Stop
from .dataflow.job import Job
from .dataflow.windows import cumulate
from .execution.main import main
from .execution.run import Result, run_script
from .execution.status import Standing, Status, read_status
from .execution.views import PlainView, SilentView, View
from .keyed import program
from .plan.arguments import Arguments
from .state.mailbox import stop_pipeline

# A script calls it on the class, whose package is below that of a run.
Job.main = main

__all__ = [
    "Arguments",
    "Job",
    "OperatorProgress",
    "PlainView",
    "QueryProgress",
    "Result",
    "RuntimeFault",
    "SilentView",
    "Standing",
    "Status",
    "Stop",
    "View",
    "cumulate",
    "program",
    "read_status",
    "run_script",
    "stop_pipeline",
]
