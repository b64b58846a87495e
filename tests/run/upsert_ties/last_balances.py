"""The function of a python sink that gets the latest row of each key in a batch."""

ROWS = []


def keep(batch, batch_id):
    for row in batch.collect():
        ROWS[:] = [one for one in ROWS if one["k"] != row["k"]]
        ROWS.append(row.asDict())
