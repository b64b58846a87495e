"""``streamc review``: what a change to specs does, as a comment on a pull request.

- ``review``: the command.
- ``find``: the specs that differ from a revision; ``base``: the files of that revision.
- ``build``: what differs in each of them, as ``contracts.outputs.review``.
- ``markdown``: that as Markdown; ``escape``: texts of others in it.
"""
