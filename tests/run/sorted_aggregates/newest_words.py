"""The function of a python sink that joins what it gets with itself, as one may."""

ROWS = []


def keep(batch, batch_id):
    totals = batch.select("k", "total")
    found = batch.drop("total").join(totals, "k").collect()
    come = {row["k"] for row in found}
    ROWS[:] = [row for row in ROWS if row["k"] not in come]
    ROWS.extend(row.asDict(recursive=True) for row in found)
