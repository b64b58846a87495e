"""CREATE OPERATOR: inputs, state, timers, handlers and their statements.

- ``operator``: CREATE OPERATOR: inputs, state and timers, and the program that handles rows and
  timers.
- ``checks``: what is wrong with a program that is right in each of its statements, or worth a
  warning.
- ``inputs``: the inputs of an operator: what it reads, by which keys and in which order.
- ``python_classes``: ON EVENT USING PYTHON: an operator whose handlers are a class, and what can be
  handed to one.
- ``state``: STATE, TTL and TIMERS of an operator: what it keeps for each key, and for how long.
- ``handlers``: ON EVENT and ON TIMER: which handler is for what, and whether all are there.
- ``statements``: the statements of a handler, one function a kind.
- ``targets``: what statements of a program are about: cells of a fit kind, and timers.
- ``values``: values on their way to where a program puts them.
- ``reads``: reads of state in the expressions of a program: entries of maps, elements of sets,
  sizes.
- ``scope``: what names mean inside a program: columns, keys, cells, locals, the instant of a timer.
"""
