"""What a migration makes of the tables of a savepoint.

- ``failing``: rows of a savepoint that a migration can't convert: their number, the first of them,
  and why.
- ``incompleteness``: since when a part of a state is not what it would have been, and until when.
- ``state_mapping``: which tables of a savepoint the operators of a plan begin with, and what is
  done to them.
- ``watermarks``: what the watermark of a savepoint makes of windows and timers that a migration
  moves.
- ``live_state``: of a migration what one query needs: the cells and columns that it keeps, and who
  has them.
- ``transform``: the tables of an operator after a migration: each new key and cell by its
  expression.
- ``ttl``: keys of a program whose cells get a TTL: each has to be looked at, or nobody forgets what
  it has.
- ``conversions``: what a migration computes of the rows of a savepoint: expressions over the
  columns they see.
"""
