"""YAML text as plain values, with the location of each key and value in the spec.

Scalars keep the text that was written (``NO``, ``007``, ``1.10``); null is None. Under a mapping
called ``spark`` booleans become ``true`` and ``false``, which is how Spark spells them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from ..reports.source import Span
from .size import TooLarge, check_size

Path = tuple[str, ...]
Value = None | str | list["Value"] | dict[str, "Value"]

_DEEPEST = 4
"""The depth of the deepest setting (``profiles.prod.variables.input``).

Nothing deeper is read: a list or mapping there is wrong whatever it contains, and an alias may
make it endless."""

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlSyntaxError(Exception):
    """Text that is not YAML: ``offset`` is its place in the spec, the text says what is wrong."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.offset = offset


@dataclass(slots=True)
class YamlTree:
    """A document: its values, the spans of keys and values by path, and duplicate keys."""

    root: Value = None
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    twice: list[tuple[Path, Span]] = field(default_factory=list)
    not_text: list[Span] = field(default_factory=list)


def read_yaml(text: str, offset: int) -> YamlTree:
    """Read one document that starts at ``offset`` of a spec; raises ``YamlSyntaxError``."""
    try:
        check_size(text, _Loader)
        node = yaml.compose(text, Loader=_Loader)
    except TooLarge as error:
        raise YamlSyntaxError(str(error), offset + error.offset) from error
    except yaml.reader.ReaderError as error:
        raise YamlSyntaxError(error.reason, offset + error.position) from error
    except yaml.MarkedYAMLError as error:
        raise marked(error, text, offset) from error
    tree = YamlTree()
    if node is not None:
        tree.root = _Reader(tree, text, offset).value(node, ())
    return tree


def marked(error: yaml.MarkedYAMLError, text: str, offset: int = 0) -> YamlSyntaxError:
    """Return an error of the parser with its most useful location.

    What is never closed is reported where it is opened.
    """
    problem = error.problem or str(error)
    never_closed = "end of stream" in problem or "expected ',' or" in problem
    mark = error.problem_mark or error.context_mark
    if never_closed and error.context_mark is not None:
        mark = error.context_mark
    place = mark.index if mark is not None else 0
    return YamlSyntaxError(problem, offset + min(place, len(text)))


class _Reader:
    """Turns YAML nodes into values and records their locations."""

    def __init__(self, tree: YamlTree, text: str, offset: int) -> None:
        self._tree = tree
        self._text = text
        self._offset = offset

    def value(self, node: yaml.Node, path: Path) -> Value:
        self._tree.values.setdefault(path, self._span(node))
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, path)
        if len(path) >= _DEEPEST:
            return [] if isinstance(node, yaml.SequenceNode) else {}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, str(i))) for i, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: Path) -> Value:
        values: dict[str, Value] = {}
        for key_node, value_node in node.value:
            span = self._span(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                self._tree.not_text.append(span)
                continue
            inner = (*path, key_node.value)
            if key_node.value in values:
                self._tree.twice.append((inner, span))
                continue
            self._tree.keys[inner] = span
            values[key_node.value] = self.value(value_node, inner)
        return values

    def _span(self, node: yaml.Node) -> Span:
        start, end = node.start_mark.index, node.end_mark.index
        written = self._text[start:end].rstrip()
        return Span(self._offset + start, self._offset + start + len(written))


def _scalar(node: yaml.ScalarNode, path: Path) -> str | None:
    if node.tag == "tag:yaml.org,2002:null":
        return None
    text: str = node.value
    if node.tag == "tag:yaml.org,2002:bool" and path[-2:-1] == ("spark",):
        return "true" if text.lower() in ("yes", "true", "on") else "false"
    return text
