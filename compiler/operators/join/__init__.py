"""Joins of two streams.

- ``kind``: what the compiler knows of them.
"""

from .kind import JoinKind as JoinKind
