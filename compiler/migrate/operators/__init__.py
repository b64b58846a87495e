"""The state of each kind of operator: a verdict for each part of it.

- ``aggregates``: groups by keys and a window. ``windows``: which old ones make up a new one;
  ``cells``: each from old ones, ``derive``: those computed from other cells, ``merges``: how two
  states of an aggregate merge, ``buffers``: those that Spark keeps in a form of its own.
- ``dedup``: the remembered ids; ``within``: those remembered by another rule.
- ``joins``: the rows that wait for partners.
- ``programs``: values, maps, sets, lists, timers and waiting rows of each key. ``entries``: maps,
  sets and lists, ``timers``, ``successors``: added and removed parts, ``folded``: what the cells of
  a query's program compute.
"""
