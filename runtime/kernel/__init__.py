"""The runtime's Scala: what Python cannot reach inside Spark, in a few small objects.

``sources.py``: their text; ``build.py`` compiles them once with the Scala compiler among Spark's
jars; ``cache.py``: where the jars are kept; ``load.py`` puts the jar on the class path of a running
session's driver and executors; ``shipped.py``: a jar that Spark was started with;
``small_jvm.py``: a JVM without a session, for files that only Hadoop reaches.

``gate/``: the same input for all queries of a job, an epoch at a time.

- ``Protocol``: the rules of epochs and barriers, without clock or files; ``Gate`` carries them out;
  ``GateStatus``: the status of the gate.
- ``Asking``: queries the positions of sources in a thread of its own; ``Turns``: a query at the
  gate, and when input is looked for; ``GatedSource``: a read of a source behind the gate;
  ``Inner``: Spark's own source; ``Sources``: distinct names for a source that a query reads twice.
- ``Epochs``: the log of epochs; ``EpochInstant``: the time, which is that of the epoch in all
  queries; ``Delays``: delays at named steps, for tests.

``rows/``: rows and values.

- ``StrictFiles``: files of lines, each a row or malformed; ``JsonRows``, ``CsvRows``: a line;
  ``Texts``: values written as text; ``Instants``: numbers that are instants; ``Messages``: the same
  for Kafka's messages.
- ``Same``: when two values are the same, and the key that represents them.
- ``Tables``: reference data that is reread, the same for all queries.

``keyed/``: keyed programs.

- ``Program``, ``ProgramReader``, ``ProgramExpressions``: a script's program; ``Keyed``,
  ``KeyedProcess``, ``ProgramRun``: how it runs.
- ``Chance``: what differs when recomputed, and how a program draws random values.
- ``KeyState``, ``StateName``, ``StateWriter``: the state of a key; ``Alarms``: its timers, an entry
  each; ``Waiting``: its waiting rows; ``Frame``: those of OVER; ``InitialState``: what it begins
  with.
- ``InPython``: the frame of a program whose handlers are a Python class.

``operators/``: amendments to Spark's own operators.

- ``Watermarks``: before 1970, and at the end of time; ``Ends``: windows, bounds and timers there.
- ``LateRows``: rows that an operator drops as late, by the watermark of the batch before.
- ``Exchanges``: separate tasks for what may not share one.

``state/``: ``Layout``: the stateful operators of a query and what they keep, from Spark's own plan;
``Buffers``: merging of aggregate buffers; ``Conversions``: expressions of a migration, tried on
rows.

``ledger/``: what happens to rows.

- ``Batches``: a micro-batch as its sinks get it; ``Places``: the order of its rows, in a column;
  ``Ledger``, ``BatchCounts``: how many there were at each step.
- ``FailedRow``: the row on which an expression failed, searched for in the input; ``RowPaths``:
  what a plan computes from one row; ``RowSteps``, ``TableRows`` compute it; ``LeafPlaces``: the
  location of a row.

``files/``: ``Files``: writing, listing and moving on any Hadoop path, one call per step;
``LocalFiles``: this machine's disk, without the processes that Hadoop starts; ``Checks``: trees,
checksums and copies elsewhere; ``Rolling``: files of a batch, rolled at some size; ``TextFiles``:
files of lines joined byte for byte; ``Settings``: Hadoop's settings without a session.

``driver/``: ``Parent``: a JVM ends with the process that started it; ``Progress``: the progress
reports of a query since the last look; ``EndedJobs``: jobs that Spark would keep for ever.
``stepping/``: ``Steps``: sources that emit rows step by step; ``Ticks``: watermarks that advance
without rows.
"""
