"""Options in WITH, checked against the connector's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ....dsl.ast.node import Name
from ....dsl.ast.statements import Option
from ....dsl.foreign.options import told
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ....dsl.settings.variables import check_variables, split_variables
from ...connectors import options as known_options
from ...connectors.elsewhere import connector_help, instead_of_ksqldb, of_ksqldb
from ...connectors.interface import Role
from ...connectors.registry import NOT_BUILT
from ...connectors.spark_options import PREFIX
from ...model.pipeline import Endpoint
from ..foreign.not_built import not_built
from .passed_options import check_passed

_VARIABLE = re.compile(r"\$\{")


def endpoint(
    options: tuple[Option, ...],
    owner: Name,
    known: Mapping[str, Role],
    variables: Mapping[str, str | None],
    diagnostics: Diagnostics,
) -> Endpoint | None:
    """Return the connector with its options, or None after a report.

    ``known`` are the connectors for this kind of declaration.
    """
    before = len(diagnostics)
    given = unique_options(options, diagnostics)
    for option in given.values():
        parts = split_variables(option.value, option.value_span, diagnostics)
        check_variables(parts, variables, option.value_span, diagnostics)
    connector = _connector(given, owner, known, diagnostics)
    if connector is None:
        return None
    role = known[connector]
    checked: dict[str, str] = {}
    passed: list[tuple[str, str]] = []
    formats = given["format"].value if "format" in given else None
    for name, option in given.items():
        if name == "connector":
            continue
        if name.startswith(PREFIX) and role.spark is not None:
            diagnostics.extend(check_passed(option, connector, role, role.spark, formats))
            passed.append((name.removeprefix(PREFIX), option.value))
            continue
        diagnostics.extend(_check(option, connector, role, formats))
        checked[name] = option.value
    missing = [spec for spec in role.accepted if spec.required and spec.name not in given]
    if missing:
        misspelt = {near for name in given for near in closest(name, _names(role))}
        diagnostics.extend(
            _missing(spec, connector, owner.span) for spec in missing if spec.name not in misspelt
        )
    if role.one_of:
        diagnostics.extend(_one_of(connector, role.one_of, given, owner))
    if len(diagnostics) > before:
        return None
    ordered = tuple((o.name, checked[o.name]) for o in role.accepted if o.name in checked)
    return Endpoint(connector, ordered, tuple(passed))


def _one_of(
    connector: str, names: tuple[str, ...], given: Mapping[str, Option], owner: Name
) -> Iterable[Diagnostic]:
    found = [given[name] for name in names if name in given]
    listed = ", ".join(f"`{name}`" for name in names)
    if not found:
        yield Diagnostic(
            codes.MISSING_OPTION,
            f"connector `{connector}` needs one of the options {listed}",
            Label(owner.span),
            help=f"add `{names[0]} = '…'` to its options",
        )
    for extra in found[1:]:
        yield Diagnostic(
            codes.OPTION_VALUE,
            f"`{extra.name}` excludes `{found[0].name}`",
            Label(extra.span),
            secondary=(Label(found[0].span),),
            help=f"keep one of {listed}",
        )


def _names(role: Role) -> tuple[str, ...]:
    return tuple(o.name for o in role.accepted)


def unique_options(options: Iterable[Option], diagnostics: Diagnostics) -> dict[str, Option]:
    """Return options by name; report duplicates."""
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
    """Return the diagnostic for an unknown option."""
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
    given: dict[str, Option], owner: Name, known: Mapping[str, Role], diagnostics: Diagnostics
) -> str | None:
    option = given.get("connector")
    if option is None:
        diagnostics.add(
            Diagnostic(
                codes.MISSING_OPTION,
                f"`{owner}` does not name a connector",
                Label(owner.span),
                help=_name_a_connector(given, known),
            )
        )
        return None
    word = next(iter(known.values())).WORD
    if option.value in NOT_BUILT:
        instead = connector_help(option.value, word)
        diagnostics.add(not_built(f"connector `{option.value}`", option.value_span, instead))
        return None
    if option.value in known:
        return option.value
    near = closest(option.value, known)
    help_ = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
    diagnostics.add(
        Diagnostic(
            codes.UNKNOWN_CONNECTOR,
            f"there is no connector `{option.value}`",
            Label(option.value_span),
            help=connector_help(option.value, word) or help_,
        )
    )
    return None


def _name_a_connector(given: dict[str, Option], known: Iterable[str]) -> str:
    if of_ksqldb(given.values()):
        return f"write `{instead_of_ksqldb(given.values())}`"
    return f"add `connector = '…'` to its options: {', '.join(known)}"


def _check(
    option: Option, connector: str, role: Role, file_format: str | None
) -> Iterable[Diagnostic]:
    spec = role.option(option.name.text)
    if spec is None:
        known = ("connector", *_names(role))
        yield unknown_option(option, f"connector `{connector}`", known)
        return
    if spec.formats and file_format is not None and file_format not in spec.formats:
        yield Diagnostic(
            codes.UNKNOWN_OPTION,
            f"option `{spec.name}` has no meaning for format `{file_format}`",
            Label(option.name.span),
            help=f"it belongs to {', '.join(spec.formats)}: leave it out",
        )
        return
    if _VARIABLE.search(option.value) is None:
        yield from _check_value(option, spec)
    elif spec.fixed:
        yield _bad_value(
            option,
            f"`{spec.name}` can't contain a variable",
            ("write the value: the compiler depends on it"),
        )


def _check_value(option: Option, spec: known_options.Option) -> Iterable[Diagnostic]:
    text = option.value
    if spec.choices and text not in spec.choices:
        near = closest(text, spec.choices)
        yield _bad_value(
            option,
            f"`{spec.name}` can't be `{text}`",
            f"did you mean `{near[0]}`?" if near else f"it is one of: {', '.join(spec.choices)}",
        )
    elif not spec.kind.takes(text):
        message = spec.kind.message.format(name=spec.name, text=text)
        yield _bad_value(option, message, spec.kind.help)


def _bad_value(option: Option, message: str, help_: str) -> Diagnostic:
    return Diagnostic(codes.OPTION_VALUE, message, Label(option.value_span), help=help_)


def _missing(spec: known_options.Option, connector: str, span: Span) -> Diagnostic:
    example = f"{spec.name} = '{spec.choices[0] if spec.choices else '…'}'"
    return Diagnostic(
        codes.MISSING_OPTION,
        f"connector `{connector}` needs option `{spec.name}`",
        Label(span),
        help=f"add `{example}` to its options",
    )
