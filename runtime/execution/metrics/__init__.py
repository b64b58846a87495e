"""Metrics of a run, for Prometheus and whoever reads its format.

- ``registry``: every metric, with its unit, labels and meaning.
- ``meter``: their values, from what a run shows and its ledgers.
- ``export``: a port and a file on which they are offered.
"""
