"""Nodes back to text: the text passed to Spark, which also decides whether expressions are equal.

- ``words``: identifiers and strings.
- ``types``: types.
- ``expressions``: ``sql``, the canonical Spark SQL of an expression on one line.

A spec as its user wrote it is formatted by ``layout``.
"""

from __future__ import annotations

from .expressions import sort_sql, sql, window_sql
from .types import type_sql
from .words import identifier, string

__all__ = ["identifier", "sort_sql", "sql", "string", "type_sql", "window_sql"]
