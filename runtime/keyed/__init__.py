"""Keyed programs, as a script states them.

- ``program``: what a script says of a keyed program: its inputs, its state, and a step for each
  statement.
"""
