"""A test file, read and checked against its spec."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostics
from ...dsl.reports.source import SourceFile, Span
from ...dsl.yaml.diagnostics import described
from ...dsl.yaml.nodes import Mapping, Node, Scalar, Sequence, read_documents
from ...dsl.yaml.slips import slip_of
from ...dsl.yaml.tree import YamlSyntaxError
from .diagnostics import Teller
from .model import Case, Expect, Placed
from .steps import StepReader
from .upgrades import Neighbours, UpgradeReader, Version
from .ways import AS_WRITTEN, WAYS

_KEYS = ("name", "spec", "variables", "profile", "ways", "steps")


def read_tests(source: SourceFile, diagnostics: Diagnostics) -> list[Mapping]:
    """Return the tests of a file as YAML: its documents, or their items if they are lists."""
    teller = Teller(diagnostics)
    try:
        documents = read_documents(source.text)
    except YamlSyntaxError as error:
        slip = slip_of(str(error), error.offset, source.text)
        message = f"this is not valid YAML: {slip.problem}"
        teller.tell(codes.TEST_SYNTAX, message, slip.span, slip.help)
        return []
    nodes = [
        node
        for document in documents
        for node in (document if isinstance(document, Sequence) else [document])
    ]
    if not nodes:
        teller.tell(codes.TEST_FORM, "the file holds no test", Span(0, 1), "write `steps: […]`")
    found = []
    for node in nodes:
        if isinstance(node, Mapping):
            found.append(node)
        else:
            teller.form(f"a test is {described(node)}, not a mapping", node, "write `steps: […]`")
    return found


def spec_of(test: Mapping) -> Scalar | None:
    """Return the path of the spec that a test names."""
    node = test.get("spec")
    return node if isinstance(node, Scalar) and node.kind == "text" else None


def read_case(
    test: Mapping, version: Version, diagnostics: Diagnostics, neighbours: Neighbours
) -> Case:
    """Return a test of a spec; mistakes are reported and left out."""
    return _CaseReader(test, version, diagnostics, neighbours).read()


class _CaseReader:
    def __init__(
        self, test: Mapping, version: Version, diagnostics: Diagnostics, neighbours: Neighbours
    ) -> None:
        self._test = test
        self._settings = version.pipeline.settings
        self._version = version
        self._teller = Teller(diagnostics)
        self._upgrades = UpgradeReader(neighbours, self._teller)

    def read(self) -> Case:
        for key, _ in self._test:
            if key.text not in _KEYS:
                self._teller.unknown("part of a test", key, _KEYS, codes.TEST_FORM)
        variables, profile = self._variables(), self._profile()
        reader = StepReader(self._version, variables, profile, self._upgrades, self._teller)
        first_lines = reader.names.first_lines()
        if self._test.entries:
            key, _ = self._test.entries[0]
            reader.names.tell_unset(self._test.get("variables") or key, self._teller)
            reader.names.tell_metadata(key, self._teller)
        placed = self._steps(reader)
        return Case(
            self._text("name") or "",
            variables,
            profile,
            self._ways(),
            placed,
            first_lines,
            self._test.span,
        )

    def _steps(self, reader: StepReader) -> tuple[Placed, ...]:
        steps = self._test.get("steps")
        if steps is None:
            self._teller.form("the test has no `steps`", self._test, "write `steps: […]`")
            return ()
        before = self._teller.told
        placed = reader.read(steps)
        if self._teller.told == before and not any(isinstance(p.step, Expect) for p in placed):
            self._teller.form(
                "the test expects nothing: it can't fail",
                steps,
                "end it with `- expect: {sink: []}`; `streamc test --update` writes the rows",
            )
        return placed

    def _text(self, key: str) -> str | None:
        node = self._test.get(key)
        if node is None:
            return None
        if not isinstance(node, Scalar) or not node.text:
            self._teller.form(f"`{key}` is {described(node)}, not text", node)
            return None
        return node.text

    def _profile(self) -> str | None:
        name = self._text("profile")
        node = self._test.get("profile")
        if name is None or name in self._settings.profiles or not isinstance(node, Scalar):
            return name
        self._teller.unknown("profile", node, self._settings.profiles, codes.TEST_NAME)
        return None

    def _variables(self) -> dict[str, str]:
        node = self._test.get("variables")
        if node is None:
            return {}
        if not isinstance(node, Mapping):
            self._teller.form(f"`variables` is {described(node)}, not a mapping", node)
            return {}
        return dict(self._checked_variables(node))

    def _checked_variables(self, node: Mapping) -> Iterator[tuple[str, str]]:
        for key, value in node:
            if key.text not in self._settings.variables:
                self._teller.unknown("variable", key, self._settings.variables, codes.TEST_NAME)
            elif not isinstance(value, Scalar):
                self._teller.form(f"`{key.text}` is {described(value)}, not text", value)
            else:
                yield key.text, value.text

    def _ways(self) -> tuple[str, ...]:
        node = self._test.get("ways")
        if node is None:
            return (AS_WRITTEN,)
        items: tuple[Node, ...] = node.items if isinstance(node, Sequence) else (node,)
        found: dict[str, None] = {}
        for item in items:
            if isinstance(item, Scalar) and item.text in WAYS:
                found[item.text] = None
            elif isinstance(item, Scalar):
                self._teller.unknown("way of arrival", item, WAYS, codes.TEST_FORM)
            else:
                self._teller.form(f"a way of arrival is {described(item)}, not text", item)
        return tuple(found) or (AS_WRITTEN,)
