"""A new generation of a state that begins with a savepoint.

- ``begin``: the start of a run from a savepoint: first of all, a generation of it.
- ``restore``: a new generation of a state that starts from a savepoint.
- ``generation_draft``: a generation under construction: its folder, and batches of its queries
  without sinks.
- ``state_bootstrap``: queries whose first batch, without input, is given the state of a savepoint.
"""
