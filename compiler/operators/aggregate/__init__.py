"""GROUP BY.

- ``kind``: what the compiler knows about it.
- ``entry``: its entry in the plan; ``facts``: facts about its state.
"""

from .kind import AggregateKind as AggregateKind
