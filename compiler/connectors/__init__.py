"""Sources and sinks outside a pipeline: one module per connector, each with all of its facts.

- ``interface``: what has to be known about a connector and each of its roles.
- ``registry``: all connectors.
- ``options``: what an option is, and those shared by several connectors.
- ``instants``: the options of instants in texts and numbers, and which of them go together.
- ``spark_options``: options of Spark's own that connectors pass on.
- ``columns``: diagnostics about columns that they can't have, shared by several.
- ``elsewhere``: connectors of other engines, with replacements.

The connectors: ``files``, ``kafka``, ``rate``, ``postgres``, ``console``, ``memory``,
``discard``, ``python``.
"""
