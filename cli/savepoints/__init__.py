"""Commands on savepoints.

- ``files``, ``savepoint``: ``streamc savepoint``. ``plan``: the migration of one; ``dry_run``: its
  rehearsal; ``preview_text``: what a plan does to it.
- ``compact``: the command.
- ``from_savepoint``: the migration from a savepoint to what is run.
- ``low_priority``: work that yields to running jobs.
"""
