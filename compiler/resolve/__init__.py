"""Syntax tree to model: every name resolved, every expression typed, every mistake told.

In order of flow:

- ``spec``: the whole file; declarations in the order in which they can be resolved.
- ``names``: the one namespace, ids, references.
- ``functions``, ``user_aggregates``: what a spec declares to be called; ``parts`` are the names
  inside, ``binding`` finds the calls of them.
- ``sources``, ``source_columns``, ``row_policies``, ``options``, ``durations``, ``checkpoints``,
  ``sinks``, ``tables``, ``upserts``: one declaration each, and their parts.
- ``foreign_options``: connectors of other engines.
- ``file_columns``, ``kafka``, ``sink_columns``: what files, messages and sinks can hold, and
  ``field_names`` how things in them can be called; ``secrets``: none is spelt out;
  ``passed_options``: what Spark itself is told; ``java``: what would run code that the spec does
  not show.
- ``streams``: queries, WITH, unions. ``chain`` holds what is known on the way; ``stream_options``.
- ``from_clause``, ``windows``, ``joins``, ``lookups``, ``window_joins``, ``time_bounds``: what a
  SELECT reads.
- ``blocks``: one SELECT. ``columns``: its select list. ``keys``, ``aggregates``: GROUP BY.
  ``distinct``: DISTINCT ON. ``top_n``: QUALIFY; ``named_windows``: WINDOW. ``unbounded``: groups
  that nothing closes; ``lost_times``: event times that are not passed on.
- ``late_rows``: what an operator drops, as a stream. ``lateness``: event times that the watermark
  says nothing of.
- ``lowering``: queries that become programs, as those of CREATE OPERATOR.
- ``scope``: what a name means inside a SELECT.
- ``programs``: CREATE OPERATOR. ``program_inputs``, ``program_state``, ``program_handlers``: its
  parts; ``program_statements`` (``program_targets``, ``program_values``): the statements;
  ``program_scope``, ``program_reads``: what names and reads of state mean inside;
  ``python_classes``: handlers in Python; ``program_checks``: the program as a whole;
  ``output_time``: the event time of its rows.
- ``expressions``: types of expressions; ``typing`` is their dispatch and context. By kind of node:
  ``references`` (``fields`` of structs), ``literals``, ``operators``, ``comparisons``,
  ``conditions``, ``casts``, ``calls``, ``calendar``; ``foreign_functions`` knows those of
  other engines.
- ``declared_calls``: calls of declared functions; ``conversions``: values on their way into
  declared types; ``substitution``: expressions in the place of names.
- ``aggregate_calls``: calls of aggregates; ``aggregate_arguments``: what they are given;
  ``ordered_aggregates``: those whose result depends on an order; ``correlation``.
- ``not_built``: what is refused by name.
"""

from .spec import resolve

__all__ = ["resolve"]
