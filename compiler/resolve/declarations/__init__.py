"""Sources, tables, sinks, functions, the checkpoint policy, and their options.

- ``checkpoints``: CHECKPOINT: the policy of barriers, with the defaults of the language.
- ``functions``: CREATE FUNCTION, and the order in which functions and aggregates can be resolved.
- ``java``: functions and options that run Java code from outside the spec: only where it is
  allowed.
- ``secrets``: secrets in options: they come from the environment or a file, so that no file of ours
  holds them.
- ``sinks``: CREATE SINK: what it reads and where it writes.
- ``sources``: CREATE SOURCE: columns, watermark, row policies, connector.
- ``stream_options``: WITH of a stream or an operator: its identity, and state that is accepted
  without a bound.
- ``row_policies``: ON MALFORMED ROWS and ON FUTURE ROWS: what happens to rows that a source should
  not have.
- ``tables``: CREATE TABLE: reference data, its columns, its connector, how often it is read.
- ``upserts``: sinks that replace rows: `mode = 'upsert'` and the columns of its key.
- ``user_aggregates``: CREATE AGGREGATE: what a row contributes, how that is combined, and the
  result.
- ``durations``: interval literals that must have a fixed, positive length: delays, windows, bounds,
  policies.
- ``options``: options in WITH, checked against the connector's.
- ``passed_options``: options prefixed ``spark.``: passed on to Spark's readers and writers if these
  have them.
- ``source_columns``: the columns of a source: physical ones, those of its connector, computed ones.
"""
