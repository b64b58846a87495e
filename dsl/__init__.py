"""Text to a typed syntax tree, and what there is to say about it. Knows nothing of Spark.

In order of flow:

- ``source``: a file's text, spans, lines and columns.
- ``tokens``: text to tokens; keywords are such only where the grammar takes them.
- ``parse``: tokens to the tree, statement by statement; ``lalr`` runs the grammar's tables,
  ``actions`` makes nodes of its rules, ``spelling`` is what the texts of tokens stand for.
- ``ast``: the nodes of the tree.
- ``syntax_hints``: parse errors told as the mistake that was made, each from its ``place``;
  ``foreign_statements``, ``foreign_columns``, ``foreign_queries`` and ``foreign_windows`` know the
  SQL of other engines, ``foreign_options`` their options, ``program_hints`` the statements of
  operators,
  ``expectations`` puts into words what could have come, ``mistakes`` are those that tokens and
  actions find.
- ``yaml_nodes``: YAML files beside a spec, each value with its place; ``yaml_diagnostics``: what is
  said of mistakes in them, ``yaml_slips`` of what is no YAML at all, ``yaml_size`` how large one
  may be, ``yaml_text`` values that are written into one.
- ``front_matter``: the YAML head of a spec, checked; ``yaml_tree`` knows where each value stands,
  ``settings_model`` what it may be, ``settings`` is what comes out; ``foreign_settings``: what
  other tools call them, ``spark_settings``: the names of Spark's; ``secret_settings``: no secret is
  spelt out there; ``java_settings``: nothing there runs code that the spec does not show.
- ``variables``: ``${name}``, ``${env:NAME}`` and ``${file:PATH}`` in the texts of options.
- ``walk``: generic traversal of nodes and their text dump.
- ``format``: nodes back to text; ``layout``: a spec laid out anew, with its comments.
- ``depth``: how deep expressions may be nested.
- ``diagnostics``, ``codes``: what phases report, and its registry; ``suggest`` finds near names.
- ``render``: diagnostics as text, lines or JSON; ``excerpt`` marks the lines that they speak of.
"""
