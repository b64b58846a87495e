"""What names mean: in a spec, in a SELECT, in a declared function.

- ``function_binding``: calls of functions that the spec declares, found before anything is
  resolved.
- ``function_scope``: the names inside a declared function or aggregate: its parameters, or what it
  has accumulated.
- ``names``: the names that a spec declares.
- ``relation_builder``: what is known while a stream is resolved: the relations it may read and the
  ones it becomes.
- ``substitution``: expressions in the place of names: what a call of a declared function becomes.
- ``lateness``: event times that are no guide: rows come that are far behind the watermark.
- ``scope``: what a name means inside one SELECT: the columns of its relations and of its window.
- ``fields``: fields of structs: which there are, and what is said of one that is not.
"""
