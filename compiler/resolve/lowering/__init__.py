"""Queries that become keyed programs: the ``Operator`` that a user could have written instead.

Names of columns, cells, timers and locals come from the query. Its expressions are resolved where
they stand, and what they read is put in the place of names here.

- ``builders``: expressions and names of which such programs are made.
- ``program_items``: the select list of a SELECT that becomes a program.
- ``dedup_within``: DISTINCT ON … WITHIN; ``after_the_watermark``: over rows of an operator.
- ``frames``: aggregates over rows that a program keeps, or has seen; ``frame_values``: over the
  rows of a frame. ``folds``: those that hold some values; ``value_lists``: those that need all of
  them. ``rows_calls``: calls of them; ``placeholders``: what stands for their values while
  expressions are resolved.
- ``count_window``: the program of a SELECT over COUNT_WINDOW.
- ``panes``: EMIT EARLY and ALLOWED LATENESS. ``pane_clauses``: what is written; ``pane_calls``:
  aggregates that rows are added to as they come.
- ``over``: OVER. ``over_windows``: its keys, order and frame; ``over_calls``: what is called;
  ``over_program``: the program; ``over_reads``: what names mean in it.
- ``match_recognize``: MATCH_RECOGNIZE. ``match_pattern``: the pattern as an automaton;
  ``match_scope``, ``match_reads``: names and calls of DEFINE and MEASURES; ``match_aggregates``:
  aggregates in them; ``match_fields``: what an attempt remembers; ``match_program``: the program;
  ``match_rows``: what comes out; ``match_form``: what is refused.
- ``temporal_join``: FOR SYSTEM_TIME AS OF. ``temporal_form``: what its ON states, and what it
  can't.
"""
