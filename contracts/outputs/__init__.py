"""What commands print with ``--format json``: objects with a ``format`` and a ``kind``.

``format`` is raised when a part is removed or changes its meaning; new parts are added without
that. ``version`` is that of a pipeline, wherever it appears. ``docs/schemas`` has the same as JSON
Schema.
The modules:

- ``specs``: diagnostics, what was compiled and formatted, and how tests ended.
- ``migration_plan``: what becomes of a state, and of the rows of a savepoint.
- ``review``: what differs between two versions, and from a revision.
- ``running``: the status of a job, barriers.
- ``rescaling``: what a rescaling rewrites.
- ``savepoints``: lists, the manifest, rows.
"""
