"""Facts about the state of an operator, for people.

- ``fact``: a fact, and those shared by several kinds.
- ``instants``: times in words; ``sizes``: bytes of state.
"""
