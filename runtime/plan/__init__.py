"""What was compiled and what was asked: the plan, arguments, the settings of a run.

- ``retention``: how many batches Spark must keep, so that one can go back to every barrier that is
  kept.
- ``settings``: the settings of one run: the plan's, under a profile's, under what was given for
  this run.
- ``arguments``: the command line of an emitted script.
- ``plan``: the plan beside a script: what the compiler promises of operators, state and queries.
- ``meaning``: what the plan says of the meaning of a query's state: the parts of operators that it
  hangs on.
"""
