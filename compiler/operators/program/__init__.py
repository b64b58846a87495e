"""Programs for each key: CREATE OPERATOR, and what queries become that Spark has no step for.

- ``kind``: what the compiler knows of them.
- ``text``: a line for each statement; ``facts``: what
  there is to know about their state; ``entry``: what the plan has of
  them; ``script``: a step of ``program`` for each.
"""

from .kind import ProgramKind as ProgramKind
