"""Types that hold all values of others, and the SQL that converts between them.

- ``conversions``: of any value.
- ``structs``: of structs, whose fields are identified by name.
"""
