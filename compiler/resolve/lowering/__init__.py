"""Queries that become keyed programs: the ``Operator`` that a user could have written instead.

Names of columns, cells, timers and locals come from the query. Its expressions are resolved where
they stand, and what they read is put in the place of names here.

- ``parts``: expressions and names of which such programs are made.
- ``program_items``: the select list of a SELECT that becomes a program.
- ``dedup_within``: DISTINCT ON … WITHIN.
- ``over``: OVER. ``over_windows``: its keys, order and frame; ``over_calls``: what is called;
  ``over_program``: the program; ``over_reads``: what names mean in it. ``frames``: aggregates
  over rows that a program keeps.
- ``temporal_join``: FOR SYSTEM_TIME AS OF. ``temporal_form``: what its ON states, and what it
  can't.
"""
