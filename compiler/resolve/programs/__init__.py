"""CREATE OPERATOR: inputs, state, timers, handlers and their statements.

- ``operator``: CREATE OPERATOR: inputs, state and timers, and the program that handles rows and
  timers.
- ``checks``: errors and warnings about a program whose statements are each valid.
- ``inputs``: the inputs of an operator: relations, keys and order.
- ``python_classes``: ON EVENT USING PYTHON: an operator whose handlers are a class, and the types
  that can be passed to one.
- ``state``: STATE, TTL and TIMERS of an operator: what it keeps for each key, and for how long.
- ``handlers``: ON EVENT and ON TIMER: which handler is for what, and whether all are present.
- ``statements``: the statements of a handler, one function per kind.
- ``targets``: the targets of statements: cells of a suitable kind, and timers.
- ``values``: values converted for their targets.
- ``reads``: reads of state in the expressions of a program: entries of maps, elements of sets,
  sizes.
- ``scope``: the meaning of names in a program: columns, keys, cells, locals, the instant of a
  timer.
"""
