"""Commands that start, watch, stop, rescale or roll back jobs.

- ``run``, ``backfill``, ``barriers``, ``fork`` (``forking``: both runs), ``kernel``, ``rescale``,
  ``rollback``, ``status``, ``stop``: the commands.
- ``live_view``: a run as a table on a terminal.
- ``changed_state``: what a start on the state of another version refuses or reports.
"""
