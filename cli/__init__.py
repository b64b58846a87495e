"""The ``streamc`` command: one module per command, each a single function.

Importing a command costs next to nothing: what it needs (compiler, Spark, rich) is imported when it
runs.

Each of these imports only those below it:

- ``app``: the command line; ``main`` is the entry point.
- ``deployment``: a pipeline on its way to a cluster.
- ``jobs``: commands that start, watch, stop or roll back jobs.
- ``review``: ``streamc review``, for pull requests.
- ``savepoints``: commands on savepoints, and their migration.
- ``specs``: commands on specs.
- ``language_server``: what editors show of a spec.
- ``testing``: finds, runs and reports the tests of specs; ``formats``: diagnostics for GitHub and
  CI servers.
- ``shared``: options, tables, files, and errors on the terminal.
"""
