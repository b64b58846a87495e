"""What is found about each part of the state, and what a migration file decides about it.

- ``verdicts``: findings, verdicts, and the plan that holds them.
- ``decisions``: the content of a migration file, and which parts have been used.
- ``changes``: what the runtime does with each part, and which columns that reads.
"""
