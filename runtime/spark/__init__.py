"""Spark itself: its session, its parts, its log, and what it says when something fails.

- ``reports``: Spark's progress reports of one query, batch by batch, until they are no longer
  needed.
- ``session``: the Spark session of a run, and the settings that its guarantees rest on.
- ``failures``: the reason of a failed query, in a few lines, and its full text for the log.
- ``log``: the log of a Spark that is started here: what its process writes, but for secrets.
- ``packages``: parts of Spark that do not come with PySpark: fetched when a pipeline uses them,
  only then.
- ``advice``: what Spark says of a failed expression, without harmful advice, and what to write
  instead.
- ``failed_rows``: the row that made a query fail, and the expression that failed on it, where they
  are known.
"""
