"""Spark itself: its session, its packages, its log, and its error messages.

- ``reports``: Spark's progress reports of one query, batch by batch, until they are no longer
  needed.
- ``session``: the Spark session of a run, and the settings that its guarantees need.
- ``failures``: the reason of a failed query, in a few lines, and its full text for the log.
- ``log``: the log of a Spark that is started here: its process's output, without secrets.
- ``cores``: how many cores a job has, for the number of its state's partitions.
- ``packages``: parts of Spark that do not come with PySpark: fetched only when a pipeline uses
  them.
- ``advice``: Spark's messages about failed expressions, without harmful advice, and what to write
  instead.
- ``failed_rows``: the row that made a query fail, and the expression that failed on it, where they
  are known.
"""
