"""The YAML head of a spec, checked: every mistake in it is reported, and what is right is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ast.statements import FrontMatter
from ..reports import codes
from ..reports.diagnostics import Code, Diagnostic, Diagnostics, Label
from ..reports.source import Span
from ..reports.suggest import did_you_mean
from .foreign import setting_meant
from .java import check_java_settings
from .secrets import check_secret_settings
from .values import NAME, Profile, Settings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ..yaml.slips import Slip
    from ..yaml.tree import Path, Value, YamlTree

_PROFILE_KEYS = (
    "state",
    "trigger",
    "state_backend",
    "max_epochs_in_flight",
    "variables",
    "spark",
)
_KEYS = ("pipeline", "version", "description", "allow", *_PROFILE_KEYS, "profiles")


def read_front_matter(node: FrontMatter | None, stem: str, diagnostics: Diagnostics) -> Settings:
    """Return the settings of a spec whose file is called ``stem``; mistakes become diagnostics.

    A wrong setting keeps its default, so that later phases can continue.
    """
    values = _read(node, diagnostics) if node is not None else {}
    if "pipeline" not in values and not NAME.fullmatch(stem) and not _is_told(diagnostics):
        diagnostics.add(_stem_is_no_name(stem, node, diagnostics.source.text))
    profiles = {name: Profile(**given) for name, given in values.pop("profiles", {}).items()}
    return Settings.of(**{"pipeline": stem, **values}, profiles=profiles)


def _read(node: FrontMatter, diagnostics: Diagnostics) -> dict[str, Any]:
    """Return the settings that are given and valid."""
    from ..yaml.slips import slip_of
    from ..yaml.tree import YamlSyntaxError, read_yaml

    try:
        tree = read_yaml(node.text, node.span.start)
    except YamlSyntaxError as error:
        text = diagnostics.source.text
        diagnostics.add(_not_yaml(slip_of(str(error), error.offset, text, node.span.start)))
        return {}
    for path, span in tree.twice:
        diagnostics.add(_duplicate(path, span, tree.keys[path]))
    for span in tree.not_text:
        diagnostics.add(_plain(codes.BAD_SETTING, "a key has to be a plain string", span))
    if tree.root is None:
        return {}
    if not isinstance(tree.root, dict):
        diagnostics.add(_no_mapping(tree))
        return {}
    diagnostics.extend(_foreign_variables(tree.root, tree))
    secrets = check_secret_settings(tree.root, tree, diagnostics.source)
    for path, found in (*secrets, *check_java_settings(tree.root, tree)):
        diagnostics.add(found)
        _take_out(tree.root, path)
    return _validated(tree.root, tree, diagnostics)


def _validated(
    values: dict[str, Value], tree: YamlTree, diagnostics: Diagnostics
) -> dict[str, Any]:
    """Return the valid values; the others are reported and left out."""
    from pydantic_core import ValidationError

    from .model import FRONT_MATTER

    try:
        return dict(FRONT_MATTER.validate_python(values))
    except ValidationError as error:
        details = error.errors(include_url=False)
    for detail in details:
        path = tuple(str(part) for part in detail["loc"] if part != "[key]")
        if path[0] == "allow":
            path = path[:1]
        diagnostics.add(_misfit(detail, path, tree))
        _take_out(values, path)
    return _validated(values, tree, diagnostics)


def _take_out(values: Value, path: Path) -> None:
    for key in path[:-1]:
        values = values.get(key) if isinstance(values, dict) else None
    if not isinstance(values, dict):
        return
    if path[-2:-1] == ("variables",) and NAME.fullmatch(path[-1]):
        values[path[-1]] = None
    else:
        values.pop(path[-1], None)


def _is_told(diagnostics: Diagnostics) -> bool:
    """Whether the name of the pipeline is unknown because of a reported mistake."""
    told = (codes.FRONT_MATTER_SYNTAX, codes.PIPELINE_NAME)
    return any(found.code in told for found in diagnostics)


# Diagnostics.


def _not_yaml(slip: Slip) -> Diagnostic:
    message = f"the front matter is not valid YAML: {slip.problem}"
    return _plain(codes.FRONT_MATTER_SYNTAX, message, slip.span, slip.help)


def _duplicate(path: Path, span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_SETTING,
        f"`{_dotted(path)}` is set twice",
        Label(span),
        (Label(first, "first set here"),),
        help="keep one of the two",
    )


def _no_mapping(tree: YamlTree) -> Diagnostic:
    return _plain(
        codes.FRONT_MATTER_SYNTAX,
        "the front matter is not a mapping of settings",
        tree.values[()],
        "write one setting per line, as in `pipeline: card_fraud`",
    )


def _stem_is_no_name(stem: str, node: FrontMatter | None, text: str) -> Diagnostic:
    name = re.sub(r"[^a-z0-9_]+", "_", stem.lower()).strip("_")
    name = name if NAME.fullmatch(name) else f"pipeline_{name}".rstrip("_")
    where = (
        "to the front matter" if node is not None else "in front matter, between two lines `---`"
    )
    return _plain(
        codes.PIPELINE_NAME,
        f"the file name `{stem}` cannot name the pipeline",
        Span(0, max(text.find("\n"), 0)),
        f"add `pipeline: {name}` {where}",
    )


def _foreign_variables(values: dict[str, Value], tree: YamlTree) -> list[Diagnostic]:
    """Report variables that a profile sets and ``variables`` lacks."""
    known = values.get("variables")
    names = list(known) if isinstance(known, dict) else []
    profiles = values.get("profiles")
    found = []
    for profile, settings in profiles.items() if isinstance(profiles, dict) else ():
        given = settings.get("variables") if isinstance(settings, dict) else None
        for name in given if isinstance(given, dict) else ():
            if name in names or not NAME.fullmatch(name):
                continue
            found.append(
                _plain(
                    codes.UNKNOWN_VARIABLE,
                    (
                        f"profile `{profile}` sets the variable `{name}`, which `variables` does "
                        "not declare"
                    ),
                    tree.keys["profiles", profile, "variables", name],
                    did_you_mean(name, names) or f"declare it: `variables: {{{name}: null}}`",
                )
            )
    return found


def _misfit(detail: ErrorDetails, path: Path, tree: YamlTree) -> Diagnostic:
    """Return the diagnostic about a value that does not fit the model."""
    kind = detail["type"]
    key, value = tree.keys[path], tree.values[path]
    value = value if value.end > value.start else key
    name = _dotted(path)
    if path == ("allow",):
        message = "`allow` is a list of permissions, and the only one is `java`"
        return _bad(message, value, "write `allow: [java]`, or leave it out")
    match kind:
        case "extra_forbidden":
            return _unknown_key(path, key)
        case "pipeline_name":
            return _plain(
                codes.PIPELINE_NAME,
                f"`{detail['input']}` cannot name the pipeline",
                value,
                "use lower-case letters, digits and `_`, starting with a letter",
            )
        case "protected":
            return _plain(
                codes.PROTECTED_SETTING,
                f"`{path[-1]}` is set by streamc",
                key,
                f"leave it out: {detail['ctx']['reason']}",
            )
        case "spark_key":
            full = detail["ctx"]["meant"]
            named = f"did you mean `{full}`?" if full else "their names begin with `spark.`"
            return _bad(f"`{path[-1]}` is not a Spark setting", key, named)
        case "spark_slip":
            message = f"Spark has no setting `{path[-1]}`, and would ignore it"
            named = f"did you mean `{detail['ctx']['meant']}`?"
            return _plain(codes.UNKNOWN_SETTING, message, key, named)
        case "variable_name":
            return _bad(
                f"`{path[-1]}` cannot name a variable",
                key,
                "use lower-case letters, digits and `_`, starting with a letter",
            )
        case "no_variables":
            return _bad(
                f"`{name}` contains a variable, but variables are only substituted in options",
                value,
                "set another value in a profile",
            )
    expected, help_ = _expected(kind, path)
    return _bad(f"`{name}` is {_described(detail['input'])}, not {expected}", value, help_)


def _expected(kind: str, path: Path) -> tuple[str, str | None]:
    """Return what a setting should have been, and help."""
    match kind:
        case "trigger":
            return (
                "a trigger",
                "use `as fast as possible`, `available now` or a duration: `10 seconds`",
            )
        case "literal_error":
            return "a state backend", "use `auto`, `memory` or `rocksdb`"
        case "int_parsing" | "int_type" | "int_from_float" | "int_parsing_size":
            return "a whole number", None
        case "greater_than_equal":
            return "1 or more", None
        case "dict_type":
            return "a mapping", f"write `{path[-1]}: {{name: value}}`"
    return "text", None


def _unknown_key(path: Path, span: Span) -> Diagnostic:
    key = path[-1]
    known: tuple[str, ...]
    if len(path) == 1:
        message, known = f"`{key}` is not a setting", _KEYS
    elif key in _KEYS:
        message, known = f"`{key}` cannot be set in a profile", _PROFILE_KEYS
    else:
        message, known = f"`{key}` is not a setting of a profile", _PROFILE_KEYS
    listed = ", ".join(f"`{name}`" for name in known)
    return _plain(
        codes.UNKNOWN_SETTING,
        message,
        span,
        setting_meant(key, known) or f"the settings are {listed}",
    )


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or value == "":
        return "empty"
    return f"`{value}`"


def _dotted(path: Path) -> str:
    return path[-1] if path[-2:-1] == ("spark",) else ".".join(path)


def _bad(message: str, span: Span, help_: str | None = None) -> Diagnostic:
    return _plain(codes.BAD_SETTING, message, span, help_)


def _plain(code: Code, message: str, span: Span, help_: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, Label(span), help=help_)
