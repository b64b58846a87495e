"""Model to operator graph (``model.graph``): queries and the state that each of them keeps.

- ``build``: one query for each relation that a sink reads.
- ``liveness``: which columns and aggregates are live in a query.
- ``identity``: what distinguishes the rows of a relation.
- ``text``: the graph as text.
"""

from .build import build

__all__ = ["build"]
