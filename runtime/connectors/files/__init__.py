"""Files: those of a folder as rows, as they arrive or as a whole, and rows as files.

- ``connector``: what the runtime has to know of it.
- ``formats``: what Spark reads and writes them with.
- ``source``: files as they arrive.
- ``table``: the files that a folder has, as reference data.
- ``replay``: which of the files that were read are there again.
- ``commits``: what a sink has published: the names of its files, and the record of each batch.
- ``merges``: files of a sink that were merged into one, in steps that can be stopped and resumed.
- ``claims``: whose the output of a sink is: a note in its folder, which each run writes anew.
- ``recovery``: what a sink does before its first batch: it makes the output what the state says.
- ``sink``: every batch's rows appear once, whatever stops the run and whenever.
- ``compaction``: small files of older batches become bigger ones, while the job runs or not.
"""
