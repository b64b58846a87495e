"""Sources, tables and sinks: what is read from outside, and written there exactly once.

- ``batch_failures``: why a query ended: from what Spark reports, and what a sink of the batch has
  raised.
- ``captures``: A sink that keeps its rows, and notices when a batch that runs again gives others.
- ``compaction``: small files of a sink's older batches become bigger ones, while the job runs or
  not.
- ``sources``: sources: what `job.read` makes of a declaration.
- ``tables``: reference data: what `job.table` makes of a declaration. The kernel reads and keeps
  it.
- ``batches``: hands each batch of a relation to all of its sinks.
- ``files``: files as a source.
- ``sinks``: sinks: what becomes of the batches of a relation.
- ``spool``: A batch whose rows would be others if they were computed again, kept until its sinks
  have it.
- ``file_sink``: the files sink: every batch's rows appear once, whatever stops the run and
  whenever.
- ``kafka``: Kafka: messages as rows, and rows as messages.
- ``postgres``: the postgres sink: every batch in one transaction, together with its number.
- ``upserts``: sinks that replace rows: which row of a key is the latest.
- ``file_claims``: whose the output of a files sink is: a note in its folder, which each run writes
  anew.
- ``file_recovery``: what a files sink does before its first batch: it makes the output what the
  state says it is.
- ``malformed``: rows that are not what their source declares: NULL in NOT NULL columns, and the
  side stream.
- ``file_merges``: files of a sink that were merged into one, in steps that can be stopped and gone
  on with.
- ``reading``: what a script says of a source, and what a connector makes of it.
- ``file_commits``: what a files sink has published: the names of its files, and the record of each
  batch.
"""
