"""The ``streamc`` command: a module a command, each one function.

Importing a command costs next to nothing: what it works with (compiler, Spark, rich) is imported
when it runs.

- ``app``: the command line; ``main`` is the entry point.
- ``backfill``, ``barriers``, ``check``, ``compact``, ``compile``, ``diff``, ``explain``, ``fmt``,
  ``fork`` (``forking``: both runs), ``graph``, ``init``, ``kernel``, ``rollback``, ``run``,
  ``savepoint`` (``savepoint_files``, ``savepoint_plan``, ``savepoint_dry_run``), ``status``,
  ``stop``, ``test``: the commands.
- ``live_view``: a run as a table on a terminal; ``pages``: those that explain a code.
- ``spark_check``: what Spark finds in specs.
- ``testing``: tests of specs, found, run and reported.
- ``spec_files``: paths on the command line to specs.
- ``from_savepoint``: the way from a savepoint to what is run; ``changed_state``: what a start on
  the state of another version tells; ``preview_text``: what a plan makes of a savepoint.
- ``spec_revisions``: two versions of a spec; ``git``: a spec as it was at a revision.
- ``options``: those that several commands have; ``columns``: tables as plain lines;
  ``incompleteness``: parts of a state that are not what they would have been.
- ``output``: emitted files, written whole or not at all.
- ``low_priority``: work that a running job goes before.
- ``report``: diagnostics and errors to the terminal.
"""
