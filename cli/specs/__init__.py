"""Commands on specs.

- ``init``, ``fmt``, ``check``, ``compile``, ``explain``, ``graph``, ``diff``, ``test``,
  ``lsp``: the commands.
- ``watching``: files whose changes repeat a check.
- ``spark_check``: what Spark finds in specs.
- ``changes``: how two versions differ, for programs.
- ``revisions``: two versions of a spec; ``git``: a spec as it was at a revision.
"""
