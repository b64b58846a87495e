"""Syntax errors, each reported as the mistake that was made.

- ``syntax``: all of them, from the place of the error.
- ``programs``: those in statements of operators.
- ``expectations``: words what was expected.
"""
