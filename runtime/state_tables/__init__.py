"""What operators keep in Spark's state stores, and as tables with names.

- ``meaning``: what the state of a query means, and that it is never read as if it meant something
  else.
- ``program_cells``: the state of a keyed program key by key: cells as they read whole, timers, how
  many rows wait.
- ``stores``: tables in the form in which the stores of a new checkpoint have them.
- ``join_columns``: the columns with which rows wait in a join, as Spark says it of the state that
  is there.
- ``tables``: tables of what an operator keeps, and Spark's stores to read them from.
- ``program_state``: what a keyed program has kept, read from a checkpoint by Spark's own reader of
  states.
- ``types``: types as columns of files have them: what is known of NULLs in a store is not known of
  a file.
"""
