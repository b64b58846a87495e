"""Savepoints: the state of a pipeline as Parquet that any tool can read, and its restore.

Each of these imports only those above it:

- ``format``: what a savepoint is, its manifest, where it is built.
- ``take``: a savepoint from a barrier, next to the running job.
- ``migrate``: which tables the operators of a plan start from, and how a migration converts them.
- ``restore``: a generation that starts from a savepoint.
- ``backfill``: a savepoint of a new plan, with cells computed from earlier rows.
- ``inspect``: what a migration would do, in numbers and rows; SQL; archives.
- ``process``: the command line's operations on savepoints, in a process with a Spark of its own.
"""
