"""Operator graph to PySpark text. Pure functions: the same text for the same graph.

How calls, columns and literals are written is in ``pyspark``.

- ``script``: the frame (a Jinja template) and the order of paragraphs.
- ``functions``: functions in Python.
- ``endpoints``: sources and sinks.
- ``relations``: a stream or a part of one; joins and unions.
- ``steps``, ``top_n``: the calls of each class of step.
- ``programs``: operators, a step of ``program`` for each statement.
- ``describe``: the comment above a paragraph; ``comments``: those of the spec, above that.
- ``spec_copy``: the spec's own text, as it goes with the script.
"""

from .script import emit

__all__ = ["emit"]
