"""Text to tokens, and tokens to the rules of the grammar.

- ``tokens``: a word is a keyword only where the grammar takes it as one.
- ``spelling``: decodes the texts of tokens.
- ``lalr``: runs the grammar's tables.
- ``mistakes``: those found by tokens and actions.
- ``place``: the place of a syntax error, the tokens around it, and those that were expected.
"""
