"""Whole queries: streams, SELECT blocks, what they read and how they group.

- ``streams``: CREATE STREAM: a query, its WITH tables and its union branches, as relations.
- ``select_block``: one SELECT block.
- ``distinct``: DISTINCT ON: the first row of an id; with WITHIN a program remembers ids for longer.
- ``top_n``: QUALIFY ROW_NUMBER() OVER (…) <= n: the top of each closed window.
- ``ranked_fields``: QUALIFY by fields of structs, which are ranked under the name of the field.
- ``from_clause``: FROM: the input of a SELECT block.
- ``count_select``: a SELECT over COUNT_WINDOW: its keys, its lengths, and its output for a window.
- ``aggregates``: GROUP BY, aggregates and HAVING: groups, state, output.
"""
