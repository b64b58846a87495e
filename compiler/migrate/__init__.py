"""Two plans and a migration file to the migration of each cell of state.

In order of flow:

- ``read``: a migration file, checked against both plans; ``names``: those that it may use,
  ``expressions``: reads and types those over the old state, ``diagnostics``: mistakes.
  ``decisions``: its decisions.
- ``versions``: both plans, their live parts and meanings. ``mirrored``: joins with swapped sides;
  ``source_columns``: renamed columns of sources.
- ``plan``: the whole of it. ``aggregates`` (``cells``, ``derive``, ``merges``, ``buffers``,
  ``windows``), ``dedup`` (``within``), ``joins`` (``columns``), ``programs`` (``entries``,
  ``timers``, ``successors``, ``folded``, ``recompute``): one kind of operator each. ``keys``,
  ``inputs``: shared parts; ``upstream`` (``reading``): whether what is below gives the same rows;
  ``lateness``: whether they are late by the same watermark; ``endpoints``: sources, sinks,
  settings.
- ``changes``: what the runtime does with each part, and which columns that reads. ``texts``: what
  an operator computes; ``parsing``: such texts as trees, ``lines``: statements of programs;
  ``rewritten``: an operator said in other words.
- ``conversions``: types that hold all of others, ``structs`` by their fields;
  ``nulls``: conversions that may give NULL; ``lengths``: lengths of time.
- ``verdicts``: the findings.
- ``text``, ``document``: the verdicts for people, and the work for the runtime; ``draft``: a
  migration file with the decisions that are missing.
"""
