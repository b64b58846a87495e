"""What the chaos benchmark and the tests of barriers share.

In order of flow:

- ``shop.stream``: the pipeline: one source, four sinks; ``ledger_of_totals`` keeps its upserts in
  SQLite, each batch in one transaction with its number.
- ``events``: the input, out of order and reproducible, and the writer that adds it file by file.
- ``oracle``: the right rows of every sink, by plain Python from the input files.
- ``outputs``: the rows that sinks hold, and what of them is lost or doubled.
- ``shop``: a folder with the compiled pipeline, its input, state and outputs.
- ``cuts``: which input a cut covers, and what the logs of a state say of it.
- ``lives``: processes that run it: started, watched, killed with or without their JVM.
- ``aims``: kills at a chosen step, from inside the process; ``kills``: every kind of kill.
- ``series``: lives that follow one another, and the figures they leave.
- ``plain``: the runtime without gate and barriers, to measure against.
- ``cluster``, ``disk``: a standalone cluster whose executors are killed; a disk that fills up.
"""
