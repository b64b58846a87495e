"""Two plans and a migration file to the migration of each cell of state.

Each of these imports only those below it:

- ``results``: the verdicts for people, the work for the runtime, a draft of what is missing.
- ``plan``: the whole of it.
- ``files``: a migration file, checked against both plans.
- ``operators``: one module, or a few, for each kind of operator.
- ``inputs``: whether the rows that reach them are the same; sources, sinks, settings.
- ``columns``: keys, waiting rows and renamed columns, whatever holds them.
- ``compared``: both plans side by side.
- ``findings``: what is found about a part of the state, and what a file decides about it.
- ``types``: types that hold all values of others.
- ``texts``: texts of a plan, as trees.
"""
