"""Cells computed from rows that came before, which the sources still have.

- ``backfill``: A savepoint of a new plan, with cells computed from the rows that came before it.
- ``merge_cells``: cells of one state put into the tables of another, key by key.
- ``replay``: A run of a plan over the rows that a savepoint's job had read, into a checkpoint of
  its own.
- ``retained``: the rows up to a savepoint as they are still there: in how many steps they are read
  again.
"""
