"""Text to a typed syntax tree and diagnostics. Knows nothing about Spark.

In order of flow:

- ``source``: a file's text, spans, lines and columns.
- ``tokens``: text to tokens; a word is a keyword only where the grammar takes it as one.
- ``parse``: tokens to the tree, statement by statement; ``lalr`` runs the grammar's tables,
  ``actions`` builds nodes from its rules, ``spelling`` decodes the texts of tokens.
- ``unfinished``: the statement before a place in a file, and what could come there.
- ``ast``: the nodes of the tree.
- ``syntax_hints``: parse errors reported as the mistake that was made, each from its ``place``;
  ``foreign_statements``, ``foreign_columns``, ``foreign_queries`` and ``foreign_windows`` know the
  SQL of other engines, ``foreign_options`` their options, ``program_hints`` the statements of
  operators, ``expectations`` words what was expected, ``mistakes`` are those found by tokens and
  actions.
- ``yaml_nodes``: YAML files next to a spec, each value with its location; ``yaml_diagnostics``:
  mistakes in them, ``yaml_slips``: mistakes in YAML's syntax, ``yaml_size``: how large one may be,
  ``yaml_text``: values written into one.
- ``front_matter``: the YAML head of a spec, checked; ``yaml_tree`` has the location of each value,
  ``settings_model`` what it may be, ``settings`` the result; ``foreign_settings``: their names in
  other tools, ``spark_settings``: the names of Spark's; ``secret_settings``: no secret is written
  out there; ``java_settings``: nothing there runs code that the spec does not show.
- ``variables``: ``${name}``, ``${env:NAME}`` and ``${file:PATH}`` in the texts of options.
- ``walk``: generic traversal of nodes and their text dump.
- ``format``: nodes back to text; ``layout``: a spec reformatted, with its comments.
- ``depth``: how deep expressions may be nested.
- ``diagnostics``, ``codes``: what phases report, and its registry; ``suggest`` finds similar names.
- ``render``: diagnostics as text, lines or JSON; ``excerpt`` marks the lines that they refer to.
"""
