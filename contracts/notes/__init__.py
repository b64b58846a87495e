"""What the runtime writes down beside a state: sealed files that several of its parts read.

- ``meaning``: what the state of a query means.
- ``run_plan``: the plan that the last run was of.
"""
