"""Questions to savepoints: previews, samples, SQL, archives.

- ``archive``: savepoints as one file, and files that somebody has changed.
- ``preview``: what becomes of a savepoint under another plan, in figures, before anything begins
  with it.
- ``samples``: A few rows of a savepoint beside what a migration makes of them, as text.
- ``sql``: SQL over the Parquet of savepoints, by DuckDB: no JVM, any question.
"""
