"""A savepoint taken from a barrier.

- ``create``: A savepoint from a barrier, beside the job that runs on.
- ``written``: what queries keep, written as Parquet below the folder of a savepoint.
"""
