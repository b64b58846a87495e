"""YAML documents as nodes with their locations: for files that are checked and edited.

``tree`` is for the few settings of a spec's head; here are rows of any depth, where every
scalar keeps the text that was written along with YAML's reading of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from ...contracts.records import dataclass
from ..reports.source import Span
from .size import TooLarge, check_size
from .tree import YamlSyntaxError, marked

_DEEPEST = 40
"""How deep values may be nested; an alias may nest them endlessly."""

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KINDS = {"null": "null", "bool": "bool", "int": "int", "float": "float"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts: its text, and its ``kind``: null, bool, int, float or text."""

    text: str
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list; ``flow`` is whether it is in brackets."""

    items: tuple[Node, ...]
    flow: bool
    span: Span

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with their values in order, each key once; ``flow`` is whether it is in braces."""

    entries: tuple[tuple[Scalar, Node], ...]
    flow: bool
    span: Span

    def get(self, key: str) -> Node | None:
        """Return the value of a key."""
        return next((value for name, value in self.entries if name.text == key), None)

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.entries)


Node = Scalar | Sequence | Mapping


def read_documents(text: str) -> list[Node]:
    """Read the documents of a file, except empty ones; raises ``YamlSyntaxError``."""
    try:
        check_size(text, _Loader)
        nodes = [node for node in yaml.compose_all(text, Loader=_Loader) if node is not None]
    except TooLarge as error:
        raise YamlSyntaxError(str(error), error.offset) from error
    except yaml.reader.ReaderError as error:
        raise YamlSyntaxError(error.reason, error.position) from error
    except yaml.MarkedYAMLError as error:
        raise marked(error, text) from error
    return [_node(node, text, 0) for node in nodes]


def _node(node: yaml.Node, text: str, depth: int) -> Node:
    start = node.start_mark.index
    if depth > _DEEPEST:
        raise YamlSyntaxError("values are nested too deeply", start)
    if isinstance(node, yaml.ScalarNode):
        kind = _KINDS.get(node.tag.rpartition(":")[2], "text")
        return Scalar(node.value, kind, _trimmed(text, start, node.end_mark.index))
    flow = text[start : start + 1] in ("[", "{")
    if isinstance(node, yaml.SequenceNode):
        items = tuple(_node(item, text, depth + 1) for item in node.value)
        return Sequence(items, flow, _whole(node, flow, items))
    entries = tuple(_entries(node, text, depth + 1))
    return Mapping(entries, flow, _whole(node, flow, [value for _, value in entries]))


def _entries(node: yaml.Node, text: str, depth: int) -> Iterator[tuple[Scalar, Node]]:
    known: set[str] = set()
    for key_node, value_node in node.value:
        key = _node(key_node, text, depth)
        if not isinstance(key, Scalar):
            raise YamlSyntaxError("a key has to be a plain string", key.span.start)
        if key.text in known:
            raise YamlSyntaxError(f"`{key.text}` is given twice", key.span.start)
        known.add(key.text)
        yield key, _node(value_node, text, depth)


def _trimmed(text: str, start: int, end: int) -> Span:
    return Span(start, start + len(text[start:end].rstrip()))


def _whole(node: yaml.Node, flow: bool, parts: list[Node] | tuple[Node, ...]) -> Span:
    """Return the span of a collection; in block style it ends with its last part.

    What YAML calls its end is where the next one begins, after comments that belong to neither.
    """
    start, end = node.start_mark.index, node.end_mark.index
    return Span(start, end if flow or not parts else max(part.span.end for part in parts))
