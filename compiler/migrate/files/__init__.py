"""A migration file to decisions.

- ``read``: the file, checked against both plans.
- ``names``: those that it may use; ``expressions``: reads and types those over the old state.
- ``nulls``: conversions in it that may give NULL.
- ``diagnostics``: mistakes in it.
"""
