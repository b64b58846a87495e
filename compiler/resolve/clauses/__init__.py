"""The clauses of a SELECT: select list, keys, windows, joins, late rows.

- ``joins``: joins of streams: two sides, equal keys, a bound in time or equal windows.
- ``keys``: GROUP BY: which keys a block groups by, and whether its window is one of them.
- ``late_rows``: ON LATE ROWS SEND TO: the rows that an operator drops, as a relation of their own.
- ``lookups``: lookup joins: each row of a stream with the current rows of a table with its key.
- ``named_windows``: WINDOW: named windows of OVER, and what an OVER takes from them.
- ``output_time``: the event time of an operator's output, for windows, joins and operators after
  it.
- ``unbounded``: unbounded state: its diagnostic, and the bound that would fix it.
- ``time_bounds``: the equalities and the bound in time that a join condition states.
- ``window_joins``: window joins: the rows of two streams that fall into the same window.
- ``windows``: TUMBLE, HOP, CUMULATE and SESSION in FROM.
- ``lost_times``: how an event time was lost: reported where one is needed and missing.
- ``unnest``: UNNEST: the rows of a relation, once for each element of one of their arrays.
- ``columns``: select lists: stars, names, and which columns remain event times.
"""
