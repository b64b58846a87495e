"""The function of a python sink that fails at a batch as often as it is told to."""

FAILURES = {}


def write(batch, batch_id):
    if FAILURES.get(batch_id, 0) > 0:
        FAILURES[batch_id] -= 1
        raise RuntimeError("stumbled")
