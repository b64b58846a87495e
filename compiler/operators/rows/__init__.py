"""Rows as the walks over a pipeline see them: what kinds of steps are asked about, and answer with.

- ``needed``: which columns are needed of them, and by which conditions they go.
- ``identity``: what tells them apart.
- ``origins``: what they are made of.
- ``columns``: what their columns are called, with their types.
"""
