"""Nodes back to text.

- ``words``: identifiers, strings, numbers of intervals.
- ``types``: ``type_sql``.
- ``expressions``: ``sql``, the canonical Spark SQL of an expression on one line.
"""

from __future__ import annotations

from .expressions import sql
from .types import type_sql
from .words import identifier, string

__all__ = ["identifier", "sql", "string", "type_sql"]
