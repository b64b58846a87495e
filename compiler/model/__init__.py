"""The types that pass between the phases, and what the compiler knows of Spark; it decides nothing.

What expressions are made of:

- ``types``: the types of the language and the names they are written by.
- ``coercion``: what goes with what: common types, comparisons, casts.
- ``intervals``: interval literals, their length and their text.
- ``functions``, ``catalogue``: Spark's functions, by name and number of arguments.
- ``signatures``, ``signature_table``, ``rules``, ``date_parts``: what they take and return.
- ``aggregates``: aggregate functions; ``aggregate_cells``: their results and cells of state.
- ``declared``: functions and aggregates that a spec declares.
- ``typed``: an expression with its type. ``conditions``: what AND holds together.
- ``same``: which expressions are one to Spark. ``chance``: which calls are another value each time.

What a resolved spec is made of:

- ``schema``: columns, event times, durations.
- ``steps``: the operators of the language.
- ``programs``: the program of CREATE OPERATOR; ``reads``: what its expressions read of state.
- ``pipeline``: sources, relations, sinks, the whole.
- ``graph``: its queries, and the state that each of them keeps.
"""
