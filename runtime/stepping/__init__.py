"""A pipeline fed step by step, as tests do.

- ``analysis``: what Spark says of a script before it runs: the dataflow is built and no query is
  started.
- ``runs``: runs by steps, from an emitted script, on a Spark that any number of them share.
- ``steps``: A pipeline that is fed step by step, each step one micro-batch of every query.
- ``job``: A job that is fed step by step: what it reads is replaced, how that is parsed is its own.
- ``savepoints``: what a run by steps hands on to a run of another version: its state as a
  savepoint.
- ``state``: the state of a pipeline that is fed step by step: Spark's checkpoints, on this
  machine's disk.
"""
