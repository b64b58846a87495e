"""What a savepoint is: folder, manifest, tables, and how values look as text.

- ``shown``: values of a savepoint as text, as Spark writes them: instants in UTC, structs in
  braces.
- ``staging``: where savepoints are made: hidden folders, each locked by the process that fills it.
- ``model``: what a savepoint is: a folder with a manifest, written last, and Parquet files.
"""
