"""Syntax tree to model: every name resolved, every expression typed, every mistake reported.

Each of these imports only those above it:

- ``foreign``: features of other engines, and those that this version does not run.
- ``scopes``: what names mean.
- ``expressions``: their types; one module per kind of node.
- ``declarations``: sources, tables, sinks, functions, checkpoints, and their options.
- ``clauses``: the clauses of a SELECT.
- ``programs``: CREATE OPERATOR.
- ``lowering``: queries that become programs like those of CREATE OPERATOR.
- ``queries``: streams and SELECT blocks.
- ``spec``: the whole file; declarations in the order in which they can be resolved.
"""

from .spec import resolve

__all__ = ["resolve"]
