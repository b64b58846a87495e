"""A pipeline fed step by step, as tests do.

- ``analysis``: Spark's errors about a script before it runs: the dataflow is built but no query is
  started.
- ``runs``: runs by steps, from an emitted script, on a Spark shared by any number of them.
- ``steps``: a pipeline fed step by step, each step one micro-batch of every query.
- ``job``: a job fed step by step: its input is replaced, its parsing is its own.
- ``savepoints``: the handover from a run by steps to a run of another version: its state as a
  savepoint.
- ``state``: the state of a pipeline fed step by step: Spark's checkpoints, on this machine's disk.
"""
