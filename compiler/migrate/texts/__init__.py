"""What plans say in the language's own words, as trees.

- ``parsing``: expressions, conditions and types.
- ``lines``: statements of a program.
- ``computed``: what an operator computes.
- ``rewritten``: an operator said in other words.
- ``lengths``: lengths of time.
"""
