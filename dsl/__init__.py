"""Text to a typed syntax tree and diagnostics. Knows nothing about Spark.

Each of these imports only those below it:

- ``layout``: a spec reformatted, with its comments.
- ``parsing``: a spec, statement by statement.
- ``hints``: a syntax error reported as the mistake that was made.
- ``actions``: builds nodes from the grammar's rules.
- ``foreign``: the SQL of other engines.
- ``format``: nodes back to text.
- ``syntax``: tokens, and the loop over the grammar's tables.
- ``settings``: the YAML head of a spec, and variables in the texts of options.
- ``yaml``: YAML files next to a spec.
- ``ast``: the nodes of the tree.
- ``reports``: text with locations, what phases report about it, and how that is shown.
"""
