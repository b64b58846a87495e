"""The runtime's Scala: what Python cannot reach inside Spark, in a few small objects.

- ``Layout.scala``: the stateful operators of a query and what they keep, from Spark's own plan.
- ``Sources.scala``: distinct names for a source that one query reads twice.
- ``StrictFiles.scala``: files of lines, of which each is a row or malformed; ``JsonRows.scala`` and
  ``CsvRows.scala`` read a line, ``Texts.scala`` values that are written as text;
  ``Instants.scala``: numbers that are instants; ``Messages.scala``: the same of Kafka's messages.
- ``Protocol.scala``: what may happen when, of epochs and barriers, without clock or file;
  ``Gate.scala`` carries it out: the same input for all queries of a job, an epoch at a time;
  ``GateStatus.scala``: how things stand there; ``Asking.scala``: where sources stand, asked in a
  thread of its own; ``Delays.scala``: waits at named steps, for tests; ``Epochs.scala``: the log of
  epochs; ``Turns.scala``: a query at the gate, and when input is looked for;
  ``GatedSource.scala``: a read of a source behind the gate; ``Inner.scala``: Spark's own source.
- ``InPython.scala``: what stands around a keyed program whose handlers are a class in Python.
- ``Batches.scala``: a micro-batch as its sinks get it; ``Places.scala``: the order of its rows, in
  a column.
- ``EpochInstant.scala``: the time, which is that of the epoch in all queries.
- ``Same.scala``: when two values are the same, and which key stands for them.
- ``Tables.scala``: reference data that is read again, and the same for all queries.
- ``Steps.scala``: sources that give their rows step by step; ``Ticks.scala``: watermarks that move
  without rows.
- ``Watermarks.scala``: watermarks before 1970, and at the end of time; ``Ends.scala``: windows,
  bounds and timers there.
- ``Files.scala``: writing, listing and moving files on any Hadoop path, one call a step.
- ``LocalFiles.scala``: Hadoop's files on this machine's disk, without the processes it starts.
- ``Alarms.scala``: the timers of a keyed program, an entry each.
- ``Checks.scala``: trees, checksums and copies where the state is not on this machine's disk.
- ``LateRows.scala``: the rows that an operator drops as late, by the watermark of the batch before.
- ``Rolling.scala``: files of a batch that are followed by another one at some size.
- ``TextFiles.scala``: files of lines joined byte for byte.
- ``Conversions.scala``: expressions of a migration, tried on rows; the bytes of Parquet columns.
- ``Buffers.scala``: buffers of Spark's aggregates, of which several become one.
- ``FailedRow.scala``: the row that an expression has failed on, looked for in what was read;
  ``RowPaths.scala``: what a plan computes of one row, ``RowSteps.scala`` and ``TableRows.scala``
  compute it; ``LeafPlaces.scala``: where a row stands, and what a batch has read.
- ``Parent.scala``: a JVM ends with the process that started it.
- ``Progress.scala``: the progress reports of a query since the last look.
- ``build.py``: compiles them once with the Scala compiler among Spark's jars; ``cache.py``: where
  the jars are kept.
- ``load.py``: puts the jar on a running session's class path, driver and executors.
"""
