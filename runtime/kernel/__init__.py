"""The runtime's Scala: what Python cannot reach inside Spark, in a few small objects.

``build.py`` compiles them once with the Scala compiler among Spark's jars; ``cache.py``: where the
jars are kept; ``load.py`` puts the jar on a running session's class path, driver and executors.

``gate/``: the same input for all queries of a job, an epoch at a time.

- ``Protocol``: what may happen when, of epochs and barriers, without clock or file; ``Gate``
  carries it out; ``GateStatus``: how things stand there.
- ``Asking``: where sources stand, asked in a thread of its own; ``Turns``: a query at the gate, and
  when input is looked for; ``GatedSource``: a read of a source behind the gate; ``Inner``: Spark's
  own source; ``Sources``: distinct names for one that a query reads twice.
- ``Epochs``: the log of epochs; ``EpochInstant``: the time, which is that of the epoch in all
  queries; ``Delays``: waits at named steps, for tests.

``rows/``: rows and values.

- ``StrictFiles``: files of lines, of which each is a row or malformed; ``JsonRows``, ``CsvRows``:
  a line; ``Texts``: values written as text; ``Instants``: numbers that are instants; ``Messages``:
  the same of Kafka's messages.
- ``Same``: when two values are the same, and which key stands for them.
- ``Tables``: reference data that is read again, and the same for all queries.

``keyed/``: keyed programs.

- ``Program``, ``ProgramReader``, ``ProgramExpressions``: what a script says; ``Keyed``,
  ``KeyedProcess``, ``ProgramRun``: how it runs.
- ``Chance``: what differs when it is computed again, and how a program draws random values.
- ``KeyState``, ``StateName``, ``StateWriter``: what a key keeps; ``Alarms``: its timers, an entry
  each; ``Waiting``: its rows that wait; ``InitialState``: what it begins with.
- ``InPython``: what stands around a program whose handlers are a class in Python.

``operators/``: what is amended of Spark's own operators.

- ``Watermarks``: before 1970, and at the end of time; ``Ends``: windows, bounds and timers there.
- ``LateRows``: rows that an operator drops as late, by the watermark of the batch before.
- ``Exchanges``: a task of its own for what may not run in one with another.

``state/``: ``Layout``: the stateful operators of a query and what they keep, from Spark's own plan;
``Buffers``: buffers of aggregates, of which several become one; ``Conversions``: expressions of a
migration, tried on rows.

``ledger/``: what becomes of rows.

- ``Batches``: a micro-batch as its sinks get it; ``Places``: the order of its rows, in a column;
  ``Ledger``, ``BatchCounts``: how many there were at each step.
- ``FailedRow``: the row that an expression has failed on, looked for in what was read;
  ``RowPaths``: what a plan computes of one row; ``RowSteps``, ``TableRows`` compute it;
  ``LeafPlaces``: where a row stands.

``files/``: ``Files``: writing, listing and moving on any Hadoop path, one call a step;
``LocalFiles``: this machine's disk, without the processes that Hadoop starts; ``Checks``: trees,
checksums and copies elsewhere; ``Rolling``: files of a batch that are followed by another one at
some size; ``TextFiles``: files of lines joined byte for byte.

``driver/``: ``Parent``: a JVM ends with the process that started it; ``Progress``: the progress
reports of a query since the last look; ``EndedJobs``: jobs that Spark would keep for ever.
``stepping/``: ``Steps``: sources that give their rows step by step; ``Ticks``: watermarks that move
without rows.
"""
