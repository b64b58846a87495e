"""The meaning of names: in a spec, in a SELECT, in a declared function.

- ``function_binding``: calls of functions that the spec declares, found before anything is
  resolved.
- ``function_scope``: the names in a declared function or aggregate: its parameters or accumulators.
- ``names``: the names that a spec declares.
- ``relation_builder``: the context of a stream while it is resolved: the relations it may read and
  those it becomes.
- ``substitution``: expressions in place of names: the expansion of a declared function's call.
- ``lateness``: unreliable event times, of rows far behind the watermark.
- ``scope``: the meaning of names in one SELECT: the columns of its relations and of its window.
- ``fields``: fields of structs, and the diagnostic about an unknown one.
"""
