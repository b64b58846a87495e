"""The function of a python sink."""

ROWS = []


def keep(batch, batch_id):
    ROWS.extend(row.asDict() for row in batch.collect())
