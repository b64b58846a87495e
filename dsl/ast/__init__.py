"""The syntax tree: frozen nodes in source order, one group of node classes per module.

- ``node``: the base of all nodes; its span plays no part in equality or dumps.
- ``types``: type names as written.
- ``expressions``: Spark SQL expressions.
- ``queries``: SELECT, relations, windows, joins, patterns.
- ``programs``: the statements inside CREATE OPERATOR.
- ``statements``: the top-level statements and the spec itself.
- ``walk``: generic traversal of nodes and their text dump.

Nothing here is resolved: names are text, types are not checked.
"""
