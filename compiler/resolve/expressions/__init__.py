"""Expressions: types, names, calls; a module for each kind of node.

- ``resolve``: expressions: names resolved, types inferred, mistakes reported once (the parts:
  ``typing``).
- ``conditions``: conditions and choices: IS, BETWEEN, IN, LIKE, CASE.
- ``declared_calls``: calls of functions and aggregates that the spec declares.
- ``operators``: operators: arithmetic, bits, texts, comparisons, logic.
- ``references``: columns, fields, elements: what an expression reads from.
- ``calls``: calls of functions: names, numbers and types of arguments, lambdas.
- ``conversions``: values on their way into a declared type: parameters, results of functions,
  cells, output.
- ``aggregate_calls``: calls of aggregates: where they may stand, which clauses they take, what they
  mean.
- ``calendar``: ``TIMESTAMPADD(HOUR, 1, ts)`` and its kin: calls whose first argument is a unit of
  time.
- ``casts``: CAST, TRY_CAST and EXTRACT.
- ``aggregate_arguments``: arguments of aggregates: how many, of which types, and which of them are
  constants in a range.
- ``correlation``: CORR, told by other aggregates: Spark's own ends the query where a column is
  constant.
- ``ordered_aggregates``: aggregates whose result would depend on the order in which rows arrive,
  told by another order.
- ``comparisons``: what may be compared with what, and what has a type in common.
- ``literals``: literals: the type that Spark gives them, and those that no value has.
- ``typing``: what the typing of an expression goes through: the one dispatch on node kinds, and its
  context.
"""
