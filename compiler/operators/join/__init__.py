"""Joins of two streams.

- ``kind``: what the compiler knows of them.
- ``entry``: what the plan has of them.
- ``facts``: what there is to know about their state.
- ``waiting``: with which columns rows wait.
"""

from .kind import JoinKind as JoinKind
