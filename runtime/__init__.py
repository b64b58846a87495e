"""What an emitted script runs on. It imports PySpark and the standard library only, and late.

In order of flow:

- ``job``: what a script calls: ``Job.read``, ``Job.var``, ``Job.sink``, ``Job.main``.
- ``windows``: windows that a script calls besides, where Spark has no function for one;
  ``program``: what it says of a keyed program.
- ``main``: the process around a run; ``run``: one run, also from within a program.
- ``arguments``, ``plan``, ``settings``: what was asked, what was compiled, what the run goes by.
- ``java_code``: values that would run code which the spec does not show.
- ``secrets``: read from where the spec says they are, and never shown.
- ``java``, ``session``: Spark, and the settings that guarantees rest on; ``packages``: what
  connectors need besides; ``spark_log``: what its process writes.
- ``kernel``: the Scala that reaches what Python cannot; ``storage``: files on any Hadoop path;
  ``notes``: the runtime's own files, which say whether they are as they were written.
- ``schema_paths``: notes of Spark's that name places; ``savepoints``: state as Parquet, and back.
- ``manifests``: what a completed barrier was; ``history``: those of a state, seen from outside.
- ``state``: the folder that a pipeline's progress lives in; ``lease``: who may use it, ``holders``:
  who does; ``processes``: whether that one is still there; ``home``: whether it is a copy, by the
  ``places`` of folders; ``state_files``: its files without a JVM; ``private_files``: who may read
  them; ``generations``, ``fields``: what its notes must say.
- ``recovery``: what a run does about its state first: ``verdicts`` looks whether Spark may go on
  from it, ``rollback`` goes back to a barrier; ``undo``: the same on purpose.
- ``integrity``: which files a barrier rests on; ``checkpoints``, ``epoch_log``: what Spark's and
  the gate's files say; ``disk``: trees and links.
- ``sources``, ``files``, ``kafka``: readers; ``reading``, ``options``: what they take and give;
  ``malformed``: rows that are not what their source declares.
- ``tables``: reference data, read once or again.
- ``functions``: functions in Python; ``python_operator``: operators whose handlers are a class;
  ``modules``: where both are found.
- ``layout``: the plan's state against Spark's own plan; ``meaning`` (``join_columns``): against
  the plan that the state was begun with; ``changed_spec``: what a start on the state of another
  plan tells, refuses.
- ``gate``: the same input for all queries, an epoch at a time. ``retention``: how many epochs
  Spark keeps, so that barriers can be gone back to.
- ``watch``: the loop of a run; ``stall``: whether it stands still, and why; ``control``: what other
  processes ask of it, ``status``: what they see.
- ``queries``: Spark's queries, started, watched and stopped together; ``reports``: what Spark says
  of their batches.
- ``barriers``: which epochs are checkpoints of the whole pipeline; ``delays``: waits at steps of
  the protocol, for tests.
- ``batches``, ``sinks``, ``file_sink``, ``postgres``: where each batch goes, exactly once for files
  and tables; ``file_claims``: whose the output of a files sink is; ``file_commits``,
  ``file_recovery``: what it has published, and how a start makes that what the state says;
  ``upserts``: which row of a key is the latest; ``spool``: batches that can be computed only once.
- ``ledger``: what becomes of the rows of a batch, and the identities that show a lost one;
  ``plan_counts``: read from the counters of Spark's plan; ``books``: written down for each batch;
  ``remarks``: what is to be told of the input, once.
- ``compaction``: small files of a sink become bigger ones; ``file_merges``: one at a time, whatever
  stops it.
- ``steps``: a pipeline fed step by step, as tests do, killed and rolled back; ``step_runs``: from
  a script; ``step_job``: what its sources read, ``captures``: its sinks, in memory;
  ``step_state``: its checkpoints; ``step_savepoints``: what another version goes on from.
- ``program_state``: what a keyed program has kept, read from a checkpoint; ``program_cells``: key
  by key, as tests look at it.
- ``analysis``: what Spark refuses of a script, before a query is started.
- ``progress``, ``views``: how far the queries are, and how it is shown.
- ``failures``, ``errors``, ``signals``: how a run ends, and what it says then;
  ``spark_advice``: what to write instead of an expression that failed; ``failed_rows``: the row
  that it failed on.
"""

from . import program
from .arguments import Arguments
from .control import stop_pipeline
from .errors import RuntimeFault
from .job import Job
from .progress import OperatorProgress, QueryProgress
from .run import Result, run_script
from .signals import Stop
from .status import Standing, Status, read_status
from .views import PlainView, SilentView, View
from .windows import cumulate

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
