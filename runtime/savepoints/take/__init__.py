"""A savepoint taken from a barrier.

- ``create``: a savepoint from a barrier, next to the running job.
- ``written``: the state of queries, written as Parquet below the folder of a savepoint.
"""
