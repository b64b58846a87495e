"""Options prefixed ``spark.``: passed on to Spark's readers and writers if these have them."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast.statements import Option
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.suggest import closest
from ...connectors.interface import Role
from ...connectors.spark_options import NOT_PASSED, PREFIX, SparkOptions


def check_passed(
    option: Option, connector: str, role: Role, passed: SparkOptions, file_format: str | None
) -> Iterator[Diagnostic]:
    """Yield a diagnostic if Spark has no such option for the connector, ignoring case."""
    name = option.name.text.removeprefix(PREFIX)
    if passed.takes(name, file_format):
        return
    instead = _instead(name.lower(), role, passed)
    if instead is not None:
        message, help_ = f"Spark's option `{name}` is not passed on", instead
    else:
        of_format = passed.of_format and file_format is not None
        where = f"format `{file_format}`" if of_format else f"connector `{connector}`"
        message = f"Spark has no option `{name}` for a {role.WORD} of {where}"
        known = passed.names(file_format)
        near = closest(name, known)
        listed = ", ".join(f"`{PREFIX}{n}`" for n in known) or "none"
        help_ = f"did you mean `{PREFIX}{near[0]}`?" if near else f"there are: {listed}"
    yield Diagnostic(codes.UNKNOWN_OPTION, message, Label(option.name.span), help=help_)


def _instead(name: str, role: Role, passed: SparkOptions) -> str | None:
    """Return what to write instead of an option that the language has itself."""
    own = [f"`{one.name} = '…'`" for one in role.accepted if name in one.spark]
    if own:
        return f"write {', or '.join(own)}"
    return passed.instead.get(name) or NOT_PASSED.get(name)
