"""Model to operator graph (``model.graph``): queries and the state that each of them keeps.

- ``build``: one query for each relation that a sink reads.
- ``liveness``: which columns and aggregates are alive in a query.
- ``identity``: what tells the rows of a relation apart.
- ``text``: the graph as text.
"""

from .build import build

__all__ = ["build"]
