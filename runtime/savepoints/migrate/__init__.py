"""How a migration converts the tables of a savepoint.

- ``failing``: rows of a savepoint that a migration can't convert: their number, the first of them,
  and why.
- ``incompleteness``: since when and until when a part of a state is incomplete.
- ``state_mapping``: which tables of a savepoint the operators of a plan start from, and their
  conversion.
- ``watermarks``: the effect of a savepoint's watermark on windows and timers that a migration
  moves.
- ``holder``: which query of a savepoint has all that a migration reads of an operator.
- ``transform``: the tables of an operator after a migration: each new key and cell by its
  expression.
"""
