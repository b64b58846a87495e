"""Options in WITH, checked against the table of connectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ....dsl import codes
from ....dsl.ast.node import Name
from ....dsl.ast.statements import Option
from ....dsl.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.foreign_options import told
from ....dsl.source import Span
from ....dsl.suggest import closest
from ....dsl.variables import check_variables, split_variables
from ...model import connectors as table
from ...model.pipeline import Endpoint
from ..foreign.not_built import not_built
from ..foreign.options import connector_help, of_ksqldb, topic_of
from .passed_options import PREFIX, check_passed

_VARIABLE = re.compile(r"\$\{")
_SIZE = re.compile(r"0*[1-9][0-9]* (KB|MB|GB)")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def endpoint(
    options: tuple[Option, ...],
    owner: Name,
    known: dict[str, table.Connector],
    unbuilt: tuple[str, ...],
    variables: Mapping[str, str | None],
    diagnostics: Diagnostics,
) -> Endpoint | None:
    """Return the connector with its options, or None after saying what is wrong with them."""
    before = len(diagnostics)
    role = "sink" if known is table.SINKS else "table" if known is table.TABLES else "source"
    given = unique_options(options, diagnostics)
    for option in given.values():
        parts = split_variables(option.value, option.value_span, diagnostics)
        check_variables(parts, variables, option.value_span, diagnostics)
    connector = _connector(given, owner, known, unbuilt, role, diagnostics)
    if connector is None:
        return None
    checked: dict[str, str] = {}
    passed: list[tuple[str, str]] = []
    formats = given["format"].value if "format" in given else None
    for name, option in given.items():
        if name == "connector":
            continue
        if name.startswith(PREFIX) and connector.passes_spark:
            diagnostics.extend(check_passed(option, role, connector.name, formats))
            passed.append((name.removeprefix(PREFIX), option.value))
            continue
        diagnostics.extend(_check(option, connector, formats))
        checked[name] = option.value
    missing = [spec for spec in connector.options if spec.required and spec.name not in given]
    if missing:
        misspelt = {near for name in given for near in closest(name, _names(connector))}
        diagnostics.extend(
            _missing(spec, connector, owner.span) for spec in missing if spec.name not in misspelt
        )
    if connector.one_of:
        diagnostics.extend(_one_of(connector, given, owner))
    if len(diagnostics) > before:
        return None
    ordered = tuple((o.name, checked[o.name]) for o in connector.options if o.name in checked)
    return Endpoint(connector.name, ordered, tuple(passed))


def _one_of(
    connector: table.Connector, given: Mapping[str, Option], owner: Name
) -> Iterable[Diagnostic]:
    found = [given[name] for name in connector.one_of if name in given]
    listed = ", ".join(f"`{name}`" for name in connector.one_of)
    if not found:
        yield Diagnostic(
            codes.MISSING_OPTION,
            f"connector `{connector.name}` needs one of the options {listed}",
            Label(owner.span),
            help=f"add `{connector.one_of[0]} = '…'` to its options",
        )
    for extra in found[1:]:
        yield Diagnostic(
            codes.OPTION_VALUE,
            f"`{extra.name}` stands beside `{found[0].name}`",
            Label(extra.span),
            secondary=(Label(found[0].span),),
            help=f"keep one of {listed}",
        )


def _names(connector: table.Connector) -> tuple[str, ...]:
    return tuple(o.name for o in connector.options)


def unique_options(options: Iterable[Option], diagnostics: Diagnostics) -> dict[str, Option]:
    """Return options by name; report those that are given twice."""
    found: dict[str, Option] = {}
    for option in options:
        first = found.setdefault(option.name.text, option)
        if first is not option:
            diagnostics.add(
                Diagnostic(
                    codes.DUPLICATE_NAME,
                    f"option `{option.name}` is given twice",
                    Label(option.name.span),
                    secondary=(Label(first.name.span, "first given here"),),
                    help="keep one of them",
                )
            )
    return found


def unknown_option(option: Option, where: str, known: tuple[str, ...]) -> Diagnostic:
    """Return the diagnostic for an option that nothing reads."""
    near = closest(option.name.text, known)
    listed = ", ".join(f"`{name}`" for name in known) or "none"
    elsewhere = told(option.name.text)
    help_ = f"did you mean `{near[0]}`?" if near else f"its options are: {listed}"
    return Diagnostic(
        codes.UNKNOWN_OPTION,
        f"{where} has no option `{option.name}`",
        Label(option.name.span),
        help=elsewhere or help_,
    )


def _connector(
    given: dict[str, Option],
    owner: Name,
    known: dict[str, table.Connector],
    unbuilt: tuple[str, ...],
    role: str,
    diagnostics: Diagnostics,
) -> table.Connector | None:
    option = given.get("connector")
    if option is None:
        diagnostics.add(
            Diagnostic(
                codes.MISSING_OPTION,
                f"`{owner}` names no connector",
                Label(owner.span),
                help=_name_a_connector(given, known),
            )
        )
        return None
    if option.value in unbuilt:
        instead = connector_help(option.value, role)
        diagnostics.add(not_built(f"connector `{option.value}`", option.value_span, instead))
        return None
    connector = known.get(option.value)
    if connector is None:
        near = closest(option.value, known)
        help_ = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
        diagnostics.add(
            Diagnostic(
                codes.UNKNOWN_CONNECTOR,
                f"there is no connector `{option.value}`",
                Label(option.value_span),
                help=connector_help(option.value, role) or help_,
            )
        )
    return connector


def _name_a_connector(given: dict[str, Option], known: Iterable[str]) -> str:
    if of_ksqldb(given.values()):
        return f"write `WITH (connector = 'kafka', topic = {topic_of(given.values())}, …)`"
    return f"add `connector = '…'` to its options: {', '.join(known)}"


def _check(
    option: Option, connector: table.Connector, file_format: str | None
) -> Iterable[Diagnostic]:
    spec = next((o for o in connector.options if o.name == option.name.text), None)
    if spec is None:
        known = ("connector", *_names(connector))
        yield unknown_option(option, f"connector `{connector.name}`", known)
        return
    if spec.formats and file_format is not None and file_format not in spec.formats:
        yield Diagnostic(
            codes.UNKNOWN_OPTION,
            f"option `{spec.name}` means nothing for format `{file_format}`",
            Label(option.name.span),
            help=f"it belongs to {', '.join(spec.formats)}: leave it out",
        )
        return
    if _VARIABLE.search(option.value) is None:
        yield from _check_value(option, spec)
    elif spec.fixed:
        yield _bad_value(
            option, f"`{spec.name}` can't hold a variable", "write it out: the compiler goes by it"
        )


def _check_value(option: Option, spec: table.Option) -> Iterable[Diagnostic]:
    text = option.value
    if spec.choices and text not in spec.choices:
        near = closest(text, spec.choices)
        yield _bad_value(
            option,
            f"`{spec.name}` can't be `{text}`",
            f"did you mean `{near[0]}`?" if near else f"it is one of: {', '.join(spec.choices)}",
        )
    elif spec.kind == "integer" and not (text.isascii() and text.isdigit() and int(text) > 0):
        yield _bad_value(option, f"`{spec.name}` is a whole number from one", "write '1', say")
    elif spec.kind == "boolean" and text not in ("true", "false"):
        yield _bad_value(option, f"`{spec.name}` is true or false", "write 'true' or 'false'")
    elif spec.kind == "character" and len(text) != 1:
        yield _bad_value(option, f"`{spec.name}` is one character", "write ';', say")
    elif spec.kind == "function" and not _FUNCTION.fullmatch(text):
        yield _bad_value(
            option, f"`{spec.name}` names a Python function", "write 'module:function'"
        )
    elif spec.kind == "size" and not _SIZE.fullmatch(text):
        yield _bad_value(option, f"`{spec.name}` is a size", "write '128 MB': KB, MB or GB")
    elif spec.kind == "offsets" and not _are_offsets(text):
        yield _bad_value(
            option,
            f"`{spec.name}` can't be `{text}`",
            """write 'earliest', 'latest', or '{"topic": {"0": 42, "1": -2}}' (-2: the earliest)""",
        )
    elif not text and spec.kind == "text" and spec.name != "null_value":
        yield _bad_value(option, f"`{spec.name}` is empty", "give it a value")


def _are_offsets(text: str) -> bool:
    """Return whether a text says where each partition of each topic begins."""
    if text in ("earliest", "latest"):
        return True
    try:
        topics = json.loads(text)
    except ValueError:
        return False
    return isinstance(topics, dict) and all(
        isinstance(partitions, dict)
        and all(p.isdigit() and type(n) is int and n >= -2 for p, n in partitions.items())
        for partitions in topics.values()
    )


def _bad_value(option: Option, message: str, help_: str) -> Diagnostic:
    return Diagnostic(codes.OPTION_VALUE, message, Label(option.value_span), help=help_)


def _missing(spec: table.Option, connector: table.Connector, span: Span) -> Diagnostic:
    example = f"{spec.name} = '{spec.choices[0] if spec.choices else '…'}'"
    return Diagnostic(
        codes.MISSING_OPTION,
        f"connector `{connector.name}` needs option `{spec.name}`",
        Label(span),
        help=f"add `{example}` to its options",
    )
