"""What a migration makes of the tables of a savepoint.

- ``failing``: rows of a savepoint that a migration can't convert: their number, the first of them,
  and why.
- ``incompleteness``: since when a part of a state is not what it would have been, and until when.
- ``state_mapping``: which tables of a savepoint the operators of a plan begin with, and what is
  done to them.
- ``watermarks``: what the watermark of a savepoint makes of windows and timers that a migration
  moves.
- ``holder``: which query of a savepoint has all that a migration reads of an operator.
- ``transform``: the tables of an operator after a migration: each new key and cell by its
  expression.
"""
