"""Sources, tables and sinks: external input, and output written exactly once.

- ``interface``: what has to be known about a connector, each of its roles, and a sink.
- ``registry``: all connectors, and what Spark needs for those of a plan.
- ``reading``: a source or table as a script declares it, and a connector's reading of a source.
- ``instants``: whether a pattern and a time zone of texts exist.
- ``sources``: sources: the implementation of `job.read`.
- ``tables``: reference data: the implementation of `job.table`. The kernel reads and keeps it.
- ``sinks``: sinks for the batches of a relation.
- ``malformed``: rows that do not match their source's columns: NULL in NOT NULL columns, and the
  side stream.
- ``upserts``: sinks that replace rows: which row of a key is the latest.
- ``batches``: passes each batch of a relation to all of its sinks.
- ``batch_failures``: why a query ended: from Spark's report and the exception of a sink.
- ``spool``: a batch whose rows would differ if recomputed, kept until its sinks have it.
- ``captures``: a sink that keeps its rows, and notices when a repeated batch gives others.

The connectors: ``files``, ``kafka``, ``rate``, ``postgres``, ``console``, ``memory``,
``discard``, ``python``.
"""
