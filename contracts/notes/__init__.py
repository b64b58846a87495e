"""What the runtime writes down beside a state: sealed files that several of its parts read.

- ``identity``: whose a state folder is.
- ``generation``: where a generation comes from, and which batches count.
- ``marks``: parts of a state that lack rows.
- ``epoch``: the cut of every source.
- ``ledger``: what happened to the rows of a batch.
- ``meaning``: what the state of a query means.
- ``answer``: how far a run is with what it was asked.
- ``run_plan``: the plan that the last run was of.
"""
