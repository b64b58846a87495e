"""Expressions: types, names, calls; one module per kind of node.

- ``resolve``: expressions: names resolved, types inferred, mistakes reported once (the parts:
  ``typing``).
- ``conditions``: conditions and choices: IS, BETWEEN, IN, LIKE, CASE.
- ``declared_calls``: calls of functions and aggregates that the spec declares.
- ``operators``: operators: arithmetic, bits, texts, comparisons, logic.
- ``references``: columns, fields, elements.
- ``calls``: calls of functions: names, numbers and types of arguments, lambdas.
- ``call_diagnostics``: diagnostics about calls.
- ``conversions``: values on their way into a declared type: parameters, results of functions,
  cells, output.
- ``aggregate_calls``: calls of aggregates: where they are allowed, their clauses, their meaning.
- ``calendar``: calls such as ``TIMESTAMPADD(HOUR, 1, ts)`` whose first argument is a unit of time.
- ``casts``: CAST, TRY_CAST and EXTRACT.
- ``aggregate_arguments``: arguments of aggregates: how many, of which types, and which of them are
  constants in a range.
- ``correlation``: CORR by other aggregates: Spark's own ends the query where a column is constant.
- ``ordered_aggregates``: aggregates whose result would depend on the order of arrival, in another
  order.
- ``comparisons``: comparable types and common types.
- ``literals``: literals: their types in Spark, and those without a value.
- ``typing``: the typing of an expression: the dispatch on node kinds, and its context.
"""
