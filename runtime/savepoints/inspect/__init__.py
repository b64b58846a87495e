"""Inspection of savepoints: previews, samples, SQL, archives.

- ``archive``: savepoints as one file, and files that somebody has changed.
- ``preview``: how a savepoint would migrate to another plan, in numbers.
- ``samples``: a few rows of a savepoint before and after a migration, as text.
- ``sql``: SQL over the Parquet of savepoints, by DuckDB: any query, without a JVM.
"""
