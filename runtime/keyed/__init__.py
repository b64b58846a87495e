"""Keyed programs, as a script states them.

- ``program``: a script's keyed program: its inputs, its state, and a step for each statement.
"""
