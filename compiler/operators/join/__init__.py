"""Joins of two streams.

- ``kind``: what the compiler knows about them.
- ``entry``: their entries in the plan.
- ``facts``: facts about their state.
- ``waiting``: the columns of waiting rows.
"""

from .kind import JoinKind as JoinKind
