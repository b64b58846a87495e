"""Queries that become keyed programs: the ``Operator`` that a user could have written instead.

Names of columns, cells, timers and locals come from the query. Its expressions are resolved where
they stand, and what they read is put in the place of names here.

- ``parts``: expressions and names of which such programs are made.
- ``temporal_join``: FOR SYSTEM_TIME AS OF. ``temporal_form``: what its ON states, and what it
  can't.
"""
