"""Joins of two streams.

- ``kind``: what the compiler knows of them.
- ``entry``: what the plan has of them.
- ``waiting``: with which columns rows wait.
"""

from .kind import JoinKind as JoinKind
