"""Keyed programs, whose state the runtime's own operators lay out.

- ``kind``: what the runtime knows of them.
- ``rows``: tables as the rows that one begins with.
- ``conversions``, ``converted``: what a migration makes of their tables, part by part and whole;
  ``seen``: entries and rows that wait, as its expressions see them.
- ``ttl``: keys whose cells get a TTL.
- ``filling``: cells of one state put into the tables of another.
"""
