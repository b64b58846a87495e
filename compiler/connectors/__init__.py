"""What is read and written outside of a pipeline: a module a connector, each with all of its facts.

- ``interface``: what has to be known of a connector, and of each of its roles.
- ``registry``: the connectors that there are.
- ``options``: what an option is, and those that several connectors have.
- ``spark_options``: options of Spark's own that connectors pass on.
- ``columns``: what several of them say of columns that they can't have.
- ``elsewhere``: connectors of other engines, and what to write instead.

The connectors: ``files``, ``kafka``, ``rate``, ``postgres``, ``console``, ``memory``, ``python``.
"""
