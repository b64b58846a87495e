"""The ``streamc`` command: one module per command, each a single function.

Importing a command costs next to nothing: what it needs (compiler, Spark, rich) is imported when it
runs.

- ``app``: the command line; ``main`` is the entry point.
- ``backfill``, ``barriers``, ``check``, ``compact``, ``compile``, ``diff``, ``explain``, ``fmt``,
  ``fork`` (``forking``: both runs), ``graph``, ``init``, ``kernel``, ``lsp``, ``rollback``,
  ``run``, ``savepoint`` (``savepoint_files``, ``savepoint_plan``, ``savepoint_dry_run``),
  ``status``, ``stop``, ``test``: the commands.
- ``live_view``: a run as a table on a terminal; ``pages``: the pages that explain codes.
- ``spark_check``: what Spark finds in specs; ``formats``: diagnostics for GitHub and CI servers.
- ``language_server``: what editors show of a spec.
- ``testing``: finds, runs and reports the tests of specs.
- ``spec_files``: paths on the command line to specs.
- ``from_savepoint``: the migration from a savepoint to what is run; ``changed_state``: what a start
  on the state of another version refuses or reports; ``preview_text``: what a plan does to a
  savepoint.
- ``spec_revisions``: two versions of a spec; ``git``: a spec as it was at a revision.
- ``xml_text``: text in XML documents.
- ``options``: those shared by several commands; ``columns``: tables as plain lines;
  ``incompleteness``: marked parts of a state.
- ``output``: emitted files, written whole or not at all.
- ``low_priority``: work that yields to running jobs.
- ``report``: diagnostics and errors to the terminal.
"""
