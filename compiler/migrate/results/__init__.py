"""What becomes of the verdicts.

- ``text``: for people.
- ``document``: the work for the runtime, and a report.
- ``draft``: a migration file with the decisions that are missing.
"""
