"""Text in XML documents."""

from __future__ import annotations

from xml.etree import ElementTree

_NOT_XML = {code: "\N{REPLACEMENT CHARACTER}" for code in range(32) if chr(code) not in "\t\n\r"}


def xml_text(text: str) -> str:
    """Return a text with a replacement for each character that XML cannot contain."""
    return text.translate(_NOT_XML)


def xml_document(root: ElementTree.Element) -> str:
    """Return the indented document of an element."""
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
