"""streamc: a declarative language for stream processing on Spark.

The package is the repository root. It imports nothing, so that emitted code, which imports
``streamc.runtime`` alone, never loads the compiler. In order of flow:

- ``grammar``: what a ``.stream`` file looks like (Lark), with the parser's tables.
- ``dsl``: text to a typed syntax tree, and the diagnostics that every phase reports.
- ``compiler``: the tree to a checked model, an operator graph, a plan, and PySpark text.
- ``cli``: the ``streamc`` command; it alone knows all of the others.
- ``runtime``: what emitted scripts import; it knows none of the above.
- ``contracts``: facts that all of them hold to, of the standard library alone.
"""

__version__ = "0.1.0"
