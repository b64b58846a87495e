"""What is below an operator, and at the ends of the pipeline.

- ``rows``: whether the rows that reach an operator are still the same.
- ``upstream``: whether what is below gives the same rows as before.
- ``reading``: whether a source or table is read as before.
- ``lateness``: whether rows are late by the same watermark.
- ``endpoints``: sources, sinks and queries: positions and outputs to continue from.
"""
