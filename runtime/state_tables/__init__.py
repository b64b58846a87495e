"""What operators keep in Spark's state stores, and as tables with names.

- ``meaning``: what the state of a query means, and the check that it is never misread.
- ``program_cells``: the state of a keyed program key by key: cells read whole, timers, the number
  of waiting rows.
- ``stores``: tables in the form of the stores of a new checkpoint.
- ``join_columns``: the columns of a join's waiting rows, from Spark's schema of the existing state.
- ``tables``: tables of what an operator keeps, and Spark's stores to read them from.
- ``program_state``: the state of a keyed program, read from a checkpoint by Spark's own state
  reader.
- ``types``: types of columns in files, where nothing is known about NULLs, unlike in a store.
"""
