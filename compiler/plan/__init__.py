"""What the running job, a reviewer and a migration must know about a pipeline.

- ``lower``: graph to plan, whose classes are in ``contracts.plan``.
- ``endpoints``: settings, sources, tables, sinks and functions in it.
- ``origins``: what the rows of each relation are made of.
- ``modules``: what code in Python is known by.
- ``compare``: two plans, by ids: what came, went and changed.
- ``compare_text``: the comparison as text.
"""
