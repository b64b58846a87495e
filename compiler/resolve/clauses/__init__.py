"""The clauses of a SELECT: select list, keys, windows, joins, late rows.

- ``joins``: joins of streams: two sides, equal keys, a bound in time or equal windows.
- ``keys``: GROUP BY: which keys a block groups by, and whether its window is one of them.
- ``late_rows``: ON LATE ROWS SEND TO: the rows that an operator drops, as a relation of their own.
- ``lookups``: lookup joins: to each row of a stream the rows of a table with its key, as the table
  is then.
- ``named_windows``: WINDOW: windows of OVER by name, and what an OVER takes from them.
- ``output_time``: the event time of what an operator gives, for windows, joins and operators behind
  it.
- ``unbounded``: state without an end: what is said of it, and the bound that would fix it.
- ``time_bounds``: the equalities and the bound in time that a join condition states.
- ``window_joins``: window joins: the rows of two streams that fall into the same window.
- ``windows``: TUMBLE, HOP, CUMULATE and SESSION in FROM.
- ``lost_times``: what became of an event time on the way: told where one is needed and there is
  none.
- ``columns``: select lists: stars, names, and what becomes of event times on the way.
"""
