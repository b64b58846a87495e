"""The command line of an emitted script."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...contracts.migration import Migration
from ...contracts.plan import Plan
from ..base.errors import BAD_ARGUMENT, RuntimeFault


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a run, beyond its plan.

    `path` is the spec or the script, as named on the command line. `savepoint` is the name of one
    in the state, or a folder; `migration` is the compiler's migration from it. `copied` is what a
    copied state is to become, see `home`. Metrics are offered at `metrics_port`,
    `[ADDRESS:]PORT`, and in `metrics_file`.
    """

    until_caught_up: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    profile: str | None = None
    state: str | None = None
    savepoint: str | None = None
    migration: Migration | None = None
    path: Path | None = None
    copied: str | None = None
    metrics_port: str | None = None
    metrics_file: Path | None = None


def parse_arguments(script: Path, plan: Plan, argv: Sequence[str]) -> Arguments:
    """Parses the script's arguments; prints help or a usage error and exits as argparse does."""
    given = _parser(script, plan).parse_args(argv)
    return Arguments(
        until_caught_up=given.until_caught_up,
        variables=parse_variables(given.var),
        profile=given.profile,
        state=given.state,
        savepoint=given.from_savepoint,
        path=script,
        copied=given.copied,
        metrics_port=given.metrics_port,
        metrics_file=given.metrics_file,
    )


def parse_variables(pairs: Sequence[str]) -> dict[str, str]:
    """`["limit=4"]` as `{"limit": "4"}`; raises RuntimeFault for one that is not NAME=VALUE."""
    variables = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise RuntimeFault(
                BAD_ARGUMENT,
                "the argument of `--var` is not NAME=VALUE",
                "write `--var name=value`; it is not repeated here, since it may hold a secret",
            )
        variables[name] = value
    return variables


def _parser(script: Path, plan: Plan) -> argparse.ArgumentParser:
    title = f"Pipeline {plan.pipeline}, version {plan.version}"
    parser = argparse.ArgumentParser(
        prog=script.name,
        description=f"{title}: {plan.description}" if plan.description else f"{title}.",
        epilog=_epilog(plan),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--until-caught-up",
        action="store_true",
        help="process what is there now, then end",
    )
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a variable; may be given more than once",
    )
    parser.add_argument("--profile", metavar="NAME", help="settings of this profile")
    state = plan.settings.state
    shown = f" (default: {state.replace('%', '%%')})" if state else ""
    parser.add_argument("--state", metavar="DIR", help=f"where checkpoints live{shown}")
    parser.add_argument(
        "--from-savepoint",
        metavar="NAME",
        help="begin with a savepoint of the state, or with one in a folder",
    )
    parser.add_argument(
        "--metrics-port",
        metavar="[ADDRESS:]PORT",
        help="serve metrics for Prometheus; the default address is that of this machine only",
    )
    parser.add_argument(
        "--metrics-file",
        metavar="FILE",
        type=Path,
        help="write metrics for the textfile collector of Prometheus",
    )
    copied = parser.add_mutually_exclusive_group()
    copied.add_argument(
        "--adopt",
        action="store_const",
        dest="copied",
        const=ADOPT,
        help="a state that is a copy is the state from now on",
    )
    copied.add_argument(
        "--as-copy",
        action="store_const",
        dest="copied",
        const=AS_COPY,
        help="a state that is a copy becomes one of its own, with outputs of its own",
    )
    return parser


def _epilog(plan: Plan) -> str:
    lines = []
    if plan.settings.variables:
        lines.append("variables (also from the environment, as STREAMC_NAME):")
        lines.extend(
            f"  {name:<20}  " + ("no default" if value is None else f"default: {value}")
            for name, value in plan.settings.variables.items()
        )
    if plan.settings.profiles:
        lines.append(f"profiles: {', '.join(plan.settings.profiles)}")
    lines.append("exit codes: 0 fine, 1 a query failed, 2 the run was not possible as asked,")
    lines.append("            130 ended by Ctrl-C, 143 ended by SIGTERM")
    return "\n".join(lines)


ADOPT = "adopt"


AS_COPY = "as-copy"
