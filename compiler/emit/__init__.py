"""Operator graph to PySpark text. Pure functions: the same text for the same graph.

What the calls of a step are is in ``operators``, how they are written in ``pyspark``.

- ``script``: the frame (a Jinja template) and the order of paragraphs.
- ``functions``: functions in Python.
- ``endpoints``: sources and sinks.
- ``relations``: a stream or a part of one, with a comment that says what it does;
  ``helper_columns``: names of columns that no one else sees.
- ``comments``: those of the spec, above that.
- ``spec_copy``: the spec's own text, as it goes with the script.
"""

from .script import emit

__all__ = ["emit"]
