"""Savepoints: the state of a pipeline as Parquet that anybody can read, and the way back.

Each of these imports only those above it:

- ``format``: what a savepoint is, its manifest, where it is made.
- ``take``: a savepoint from a barrier, beside the running job.
- ``migrate``: which tables the operators of a plan begin with, and what a migration makes of them.
- ``restore``: a generation that begins with a savepoint.
- ``backfill``: a savepoint of a new plan, with cells computed from earlier rows.
- ``inspect``: what a migration would do, in figures and rows; SQL; archives.
- ``process``: what the command line does with savepoints, in a process with a Spark of its own.
"""
