"""Cells computed from earlier rows, which the sources still have.

- ``backfill``: a savepoint of a new plan, with cells computed from the rows before it.
- ``conformed``: tables of a savepoint in the form of those that a replay has made.
- ``replay``: a run of a plan over the rows that a savepoint's job had read, into a checkpoint of
  its own.
- ``retained``: the retained rows up to a savepoint, and the steps in which they are reread.
"""
