"""Tokens to the tree.

- ``parse``: statement by statement, each with its mistakes.
- ``unfinished``: the statement before a place in a file, and what could come there.
- ``depth``: how deep expressions may be nested.
"""
