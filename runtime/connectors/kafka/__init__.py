"""Kafka: messages as rows, and rows as messages.

- ``connector``: what the runtime has to know of it.
- ``source``: messages of topics as the declared columns.
- ``sink``: rows as messages of a topic.
"""
