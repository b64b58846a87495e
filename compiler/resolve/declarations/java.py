"""Functions and options that run Java code from outside the spec: only where it is allowed.

A function is found by its name wherever it is called: in declared functions, in programs, in
conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.java import ALLOW, function_runs_java, option_runs_java
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.ast.statements import Option
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.settings.java import ALLOWING
from ....dsl.settings.values import Settings
from ...connectors.spark_options import PREFIX


def check_java(spec: Node, settings: Settings) -> Iterator[Diagnostic]:
    """Report calls and options that run such code, unless the front matter allows it."""
    if ALLOW in settings.allow:
        return
    for node in walk(spec):
        if isinstance(node, e.Call) and function_runs_java(node.name.text, len(node.arguments)):
            yield _told(f"`{node.name}` calls a Java class by name", node.name)
        elif isinstance(node, Option) and _is_handed_on(node):
            yield _told(f"`{node.name}` can make Spark run code that is not in the spec", node.name)


def _is_handed_on(option: Option) -> bool:
    name = option.name.text
    return name.startswith(PREFIX) and option_runs_java(name.removeprefix(PREFIX), option.value)


def _told(message: str, name: Name) -> Diagnostic:
    return Diagnostic(codes.RUNS_JAVA, message, Label(name.span), help=ALLOWING)
