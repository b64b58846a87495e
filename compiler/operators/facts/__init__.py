"""What there is to know about the state of an operator, for people.

- ``fact``: a fact, and those that kinds have in common.
- ``instants``: times in words; ``sizes``: bytes of state.
"""
