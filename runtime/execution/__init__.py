"""One run: started, watched, controlled from outside, ended.

- ``main``: the process around a run: arguments in, lines and an exit code out.
- ``rollback_command``: `streamc rollback`: what going back to a barrier would undo, whether it may
  be, and doing it.
- ``run``: one run of a pipeline: from a plan and a script's `build` to stopped queries and a
  result.
- ``changed_spec``: A start on the state of another version of the spec: what it tells, and what it
  refuses.
- ``queries``: the Spark queries of one run: checked, started together, watched, stopped together.
- ``watch``: the loop of a run: it shows how the queries are, and ends them when there is a reason.
- ``views``: what a run shows while it goes on: the protocol, and plain lines for where no terminal
  is.
- ``status``: how a run is doing, in a file for other processes: `control/status.json`.
- ``progress``: how far each query is, from Spark's own progress reports.
"""
