"""Sources, tables and sinks: what is read from outside, and written there exactly once.

- ``interface``: what has to be known of a connector, of each of its roles, and of a sink.
- ``registry``: the connectors that there are, and what Spark needs for those of a plan.
- ``reading``: what a script says of a source or table, and what a connector makes of a source.
- ``sources``: sources: what `job.read` makes of a declaration.
- ``tables``: reference data: what `job.table` makes of a declaration. The kernel reads and keeps
  it.
- ``sinks``: sinks: what becomes of the batches of a relation.
- ``malformed``: rows that are not what their source declares: NULL in NOT NULL columns, and the
  side stream.
- ``upserts``: sinks that replace rows: which row of a key is the latest.
- ``batches``: hands each batch of a relation to all of its sinks.
- ``batch_failures``: why a query ended: from what Spark reports, and what a sink of the batch has
  raised.
- ``spool``: a batch whose rows would be others if they were computed again, kept until its sinks
  have it.
- ``captures``: a sink that keeps its rows, and notices when a batch that runs again gives others.

The connectors: ``files``, ``kafka``, ``rate``, ``postgres``, ``console``, ``memory``,
``discard``, ``python``.
"""
