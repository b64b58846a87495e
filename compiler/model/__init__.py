"""What the compiler knows about types, functions and a resolved spec; it decides nothing.

In order of use:

- ``types``: the types of the language and the names they are written by.
- ``coercion``: what goes with what: common types, comparisons, casts.
- ``intervals``: interval literals, their length and their text.
- ``functions``, ``catalogue``: Spark's functions, what they take and what they return.
- ``aggregates``: aggregate functions and the cells of their state.
- ``typed``: an expression with its type.
"""
