"""Rows as the walks over a pipeline see them: the arguments and results of kinds of steps.

- ``needed``: which of their columns are needed, and which conditions filter them.
- ``identity``: what distinguishes them.
- ``origins``: what they are computed from.
- ``columns``: the names and types of their columns.
"""
