"""A new generation of a state that begins with a savepoint.

- ``begin``: A run that is to begin with a savepoint makes a generation of it, before anything else.
- ``restore``: A new generation of a state that begins with a savepoint.
- ``generation_draft``: A generation that is being made: its folder, and batches of its queries
  without their sinks.
- ``state_bootstrap``: queries whose first batch, one without input, is made to have left what a
  savepoint holds.
"""
