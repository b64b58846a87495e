"""Queries that become keyed programs: the ``Operator`` that a user could have written instead.

Names of columns, cells, timers and locals come from the query. Its expressions are resolved in the
query, and their names are then replaced by reads of the program.

- ``builders``: expressions and names for such programs.
- ``program_items``: the select list of a SELECT that becomes a program.
- ``dedup_within``: DISTINCT ON … WITHIN.
- ``frames``: aggregates over rows that a program keeps, or has seen; ``frame_values``: over the
  rows of a frame; ``rolled_values``: those that the kernel keeps up to date. ``folds``: those that
  hold some values; ``value_lists``: those that need all values. ``rows_calls``: calls of them;
  ``placeholders``: stand-ins for their values while expressions are resolved.
- ``count_window``: the program of a SELECT over COUNT_WINDOW.
- ``panes``: EMIT EARLY and ALLOWED LATENESS. ``pane_clauses``: the clauses; ``pane_calls``:
  aggregates updated as rows arrive.
- ``over``: OVER. ``over_windows``: its keys, order and frame; ``over_calls``: its functions;
  ``over_program``: the program; ``over_reads``: the meaning of names in it.
- ``match_recognize``: MATCH_RECOGNIZE. ``match_pattern``: the pattern as an automaton;
  ``match_scope``, ``match_reads``: names and calls of DEFINE and MEASURES; ``match_aggregates``:
  aggregates in them; ``match_fields``: the fields of an attempt; ``match_program``: the program;
  ``match_rows``: its output; ``match_form``: what is refused.
- ``temporal_join``: FOR SYSTEM_TIME AS OF. ``temporal_form``: its ON.
"""
