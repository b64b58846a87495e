"""What the running job, a reviewer and a migration need to know about a pipeline.

- ``lower``: graph to plan, whose classes are in ``contracts.plan``.
- ``endpoints``: its settings, sources, tables, sinks and functions.
- ``origins``: what the rows of each relation are computed from.
- ``modules``: digests of Python code.
- ``compare``: two plans, by ids: what was added, removed and changed.
- ``compare_text``: the comparison as text.
"""
