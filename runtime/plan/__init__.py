"""What was compiled and what was asked: the plan, arguments, the settings of a run.

- ``plan``: the plan beside a script, and what each of its queries keeps.
- ``retention``: how many batches Spark must keep, so that one can go back to every barrier that is
  kept.
- ``settings``: the settings of one run: the plan's, under a profile's, under what was given for
  this run.
- ``arguments``: the command line of an emitted script.
"""
