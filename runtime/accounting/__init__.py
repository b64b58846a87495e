"""The ledger: what happened to each row of a batch, and the identities that must hold.

- ``batch_ledgers``: the ledgers of a query from batch to batch: built, checked, written, summed.
- ``plan_counts``: the ledger of a batch from the counters of Spark's plan.
- ``python_counts``: how many rows Python operators received and handled, batch by batch.
- ``ledger``: the ledger of one query's batch, and the identities that must hold in it.
- ``remarks``: warnings about the input of a run: each once, however many queries and batches find
  it.
"""
