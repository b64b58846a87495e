"""PySpark as text: what calls, columns and literals look like in a script.

- ``layout``: where lines break. ``variables``: names that are not in the spec.
- ``columns``: expressions.
- ``literals``: Python literals. ``long_text``: long SQL on several lines.
"""
