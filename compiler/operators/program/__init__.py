"""Programs for each key: CREATE OPERATOR, and queries for which Spark has no step.

- ``kind``: what the compiler knows about them.
- ``text``: a line for each statement; ``facts``: facts about their state; ``entry``: their entries
  in the plan; ``script``: a step of ``program`` for each statement.
"""

from .kind import ProgramKind as ProgramKind
