"""Columns that several kinds of operators have: each new one from old ones.

- ``keys``: of groups, ids and programs.
- ``waiting``: of waiting rows, in joins and in programs.
- ``sources``: renamed ones of sources; everything above is then expressed with the new name.
"""
