"""GROUP BY.

- ``kind``: what the compiler knows of it.
- ``entry``: what the plan has of it; ``facts``: what there is to know about its state.
"""

from .kind import AggregateKind as AggregateKind
