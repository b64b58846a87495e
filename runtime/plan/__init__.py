"""What was compiled and what was requested: the plan, arguments, the settings of a run.

- ``plan``: the plan next to a script, and what each of its queries keeps.
- ``retention``: how many batches Spark must keep, so that every retained barrier is restorable.
- ``settings``: the settings of one run: the plan's, overridden by a profile's, overridden by this
  run's arguments.
- ``arguments``: the command line of an emitted script.
"""
