"""What the runtime records next to a state: sealed files that several of its parts read.

- ``identity``: the owner of a state folder.
- ``home``: its place, and its runs.
- ``lease``: who holds it.
- ``status``: the status of a run.
- ``barrier``: the manifest of a barrier.
- ``generation``: where a generation comes from, and which batches count.
- ``marks``: parts of a state that lack rows.
- ``epoch``: the cut of every source.
- ``ledger``: what happened to the rows of a batch.
- ``meaning``: what the state of a query means.
- ``stop_request``: asks a run to end; ``answer``: the progress of the run with that.
- ``files_sink``: where a files sink writes, who owns a folder, what is published there.
- ``run_plan``: the plan of the last run.
- ``rescaling``: what the making of a generation in other partitions cost.
"""
