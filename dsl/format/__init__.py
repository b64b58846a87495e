"""Nodes back to text.

- ``words``: identifiers and strings.
- ``types``: types.
- ``expressions``: ``sql``, the canonical Spark SQL of an expression on one line.
- ``layout``: lines, lists and brackets.
- ``queries``, ``programs``, ``statements``: the lines of these; ``format_spec``, a whole spec.
"""

from __future__ import annotations

from .expressions import sort_sql, sql, window_sql
from .statements import format_spec, format_statement
from .types import type_sql
from .words import identifier, string

__all__ = [
    "format_spec",
    "format_statement",
    "identifier",
    "sort_sql",
    "sql",
    "string",
    "type_sql",
    "window_sql",
]
