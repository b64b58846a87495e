"""PostgreSQL: rows that are added to a table, or replaced in it.

- ``connector``: what the runtime has to know of it.
- ``sink``: every batch in one transaction, together with its number.
- ``values``: Spark's types and values as PostgreSQL has them.
- ``server``: whether a text names a server, and what is needed to reach it.
"""
