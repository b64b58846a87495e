"""Whole queries: streams, SELECT blocks, what they read and how they group.

- ``streams``: CREATE STREAM: a query, its WITH tables and its union branches, as relations.
- ``select_block``: one SELECT block.
- ``distinct``: DISTINCT ON: the first row of an id; with WITHIN an id is known for longer, by a
  program.
- ``top_n``: QUALIFY ROW_NUMBER() OVER (…) <= n: the top of each closed window.
- ``from_clause``: FROM: what a SELECT block reads, before anything is done with it.
- ``count_select``: A SELECT over COUNT_WINDOW: its keys, its lengths, and what it gives for a
  window.
- ``aggregates``: GROUP BY, aggregates and HAVING: what is grouped, what its state holds, what comes
  out.
"""
