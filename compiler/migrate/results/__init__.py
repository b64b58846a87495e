"""What becomes of the verdicts.

- ``text``: for people.
- ``document``: the work for the runtime, and a report.
- ``differences``: the comparison of two plans, with operators that mean something else.
- ``draft``: a migration file with the decisions that are missing.
"""
