"""What several commands share.

- ``report``: diagnostics and errors to the terminal.
- ``options``: options of several commands; ``columns``: tables as plain lines.
- ``spec_files``: paths on the command line to specs.
- ``output``: emitted files, written whole or not at all.
- ``incompleteness``: marked parts of a state.
- ``pages``: the pages that explain codes.
- ``xml_text``: text in XML documents.
"""
