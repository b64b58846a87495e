"""Cells computed from rows that came before, which the sources still have.

- ``backfill``: A savepoint of a new plan, with cells computed from the rows that came before it.
- ``conformed``: tables of a savepoint in the form of those that a replay has made.
- ``replay``: A run of a plan over the rows that a savepoint's job had read, into a checkpoint of
  its own.
- ``retained``: the rows up to a savepoint as they are still there: in how many steps they are read
  again.
"""
