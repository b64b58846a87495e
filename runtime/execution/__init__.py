"""One run: started, watched, controlled from outside, ended.

- ``main``: the process around a run: arguments in, lines and an exit code out.
- ``rollback_command``: `streamc rollback`: what a rollback to a barrier would undo, whether it is
  allowed, and performing it.
- ``rescale``: `streamc rescale`: a state in another number of partitions, by a savepoint and its
  restore.
- ``run``: one run of a pipeline: from a plan and a script's `build` to stopped queries and a
  result.
- ``changed_spec``: a start on the state of another version of the spec: what it reports, and what
  it refuses.
- ``partitions``: the partitions of a state: decided at its first start, kept at every other.
- ``queries``: the Spark queries of one run: checked, started together, watched, stopped together.
- ``watch``: the loop of a run: it shows the status of the queries, and ends them when necessary.
- ``views``: what a run shows: the protocol, and plain lines for output without a terminal.
- ``metrics``: what a run counts, offered to Prometheus.
- ``status``: the status of a run, in a file for other processes: `control/status.json`.
- ``progress``: how far each query is, from Spark's own progress reports.
"""
