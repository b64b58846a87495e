"""PySpark as text: what calls, columns and literals look like in a script.

- ``layout``: where lines break.
- ``columns``: expressions.
- ``literals``: Python literals. ``long_text``: long SQL on several lines.
"""
