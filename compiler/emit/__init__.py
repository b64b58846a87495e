"""Operator graph to PySpark text. Pure functions: the same text for the same graph.

``operators`` decides the calls of a step, ``pyspark`` how they are written.

- ``script``: the frame (a Jinja template) and the order of paragraphs.
- ``functions``: Python functions.
- ``endpoints``: sources and sinks.
- ``relations``: a stream or a part of one, with a comment that says what it does;
  ``helper_columns``: names of internal columns.
- ``comments``: the spec's own comments, above that.
- ``spec_copy``: the spec's own text, stored with the script.
"""

from .script import emit

__all__ = ["emit"]
