"""A compiled pipeline for people: pictures of its flow, and its operators explained.

- ``model_text``: a pipeline as text, one line per column, step or declaration.
- ``flow``: boxes and arrows: sources, streams with their state, sinks.
- ``mermaid``, ``dot``: the flow for other programs to draw.
- ``placing``: the positions of boxes and arrows; ``svg``: the flow as a picture.
- ``explain``: a pipeline in words; ``policy``: its barriers; ``repeats``: what a query computes
  more than once.
"""
