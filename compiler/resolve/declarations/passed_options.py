"""Options prefixed ``spark.``: passed on to Spark's readers and writers if these have them."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl import codes
from ....dsl.ast.statements import Option
from ....dsl.diagnostics import Diagnostic, Label
from ....dsl.suggest import closest
from ...model.spark_options import INSTEAD, in_family, passed_on

PREFIX = "spark."


def check_passed(
    option: Option, role: str, connector: str, file_format: str | None
) -> Iterator[Diagnostic]:
    """Yield that Spark has no such option for the connector; case does not count."""
    name = option.name.text.removeprefix(PREFIX)
    known = passed_on(role, connector, file_format)
    if known is None or in_family(role, connector, name):
        return
    if name.lower() in {n.lower() for n in known}:
        return
    if name.lower() in INSTEAD:
        message, help_ = f"option `{name}` of Spark is not passed on", INSTEAD[name.lower()]
    else:
        files = connector == "files" and file_format is not None
        where = f"format `{file_format}`" if files else f"connector `{connector}`"
        message = f"Spark has no option `{name}` for a {role} of {where}"
        near = closest(name, known)
        listed = ", ".join(f"`{PREFIX}{n}`" for n in known) or "none"
        help_ = f"did you mean `{PREFIX}{near[0]}`?" if near else f"there are: {listed}"
    yield Diagnostic(codes.UNKNOWN_OPTION, message, Label(option.name.span), help=help_)
