"""The ledger: what became of each row of a batch, and what must add up.

- ``batch_ledgers``: the ledgers of a query from batch to batch: made, checked, written down, summed
  up.
- ``plan_counts``: from the counters of Spark's plan of a batch to the ledger of the batch.
- ``python_counts``: how many rows operators in Python have been given and have handled, batch by
  batch.
- ``ledger``: what became of the rows of a batch: the ledger of one query, and the identities it
  must keep.
- ``remarks``: what a run has to say of its input: each thing once, however many queries and batches
  find it.
"""
