"""Joins of two streams.

- ``kind``: what the compiler knows of them.
- ``waiting``: with which columns rows wait.
"""

from .kind import JoinKind as JoinKind
