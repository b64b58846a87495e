"""The types passed between the phases, and what the compiler knows about Spark; it decides nothing.

What expressions are made of:

- ``types``: the types of the language and their names.
- ``coercion``: compatible types: common types, comparisons, casts.
- ``intervals``: interval literals, their length and their text.
- ``functions``, ``catalogue``: Spark's functions, by name and number of arguments.
- ``signatures``, ``signature_table``, ``rules``, ``date_parts``: what they take and return;
  ``signature_text``: that in a line.
- ``aggregates``: aggregate functions; ``aggregate_cells``: their results and cells of state.
- ``declared``: functions and aggregates that a spec declares.
- ``typed``: an expression with its type. ``conditions``: the conjuncts of a condition.
- ``same``: which expressions are equal to Spark. ``chance``: which calls are non-deterministic.

What a resolved spec is made of:

- ``schema``: columns, event times, durations.
- ``steps``: the operators of the language.
- ``programs``: the program of CREATE OPERATOR; ``reads``: how its expressions read state.
- ``pipeline``: sources, relations, sinks, the whole.
- ``graph``: its queries, and the state that each of them keeps.
"""
