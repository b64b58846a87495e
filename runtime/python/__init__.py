"""Python functions that a spec declares.

- ``functions``: Python functions in SQL: registered under their names, called with whole columns of
  a batch.
"""
