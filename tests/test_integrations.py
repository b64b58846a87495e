"""The GitHub action and the GitLab job: valid by published schemas, and their scripts run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "integrations" / "github" / "action.yml"
JOB = ROOT / "integrations" / "gitlab" / "streamc.yml"
PAGE = ROOT / "docs" / "review.md"
SPEC = (ROOT / "tests/changes/add_filter/before.stream").read_text(encoding="utf-8")
GH = """\
#!/bin/bash
echo "$@" >>"$CALLS"
if [[ "$*" == *--paginate* ]]; then cat "$KNOWN"; else cat "${@: -1}" 2>/dev/null || true; fi
"""


def blocks() -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("vendor.github-actions", ACTION.read_text(encoding="utf-8")),
        ("vendor.gitlab-ci", JOB.read_text(encoding="utf-8")),
        ("vendor.github-workflows", blocks()[0]),
        ("vendor.gitlab-ci", blocks()[1]),
    ],
)
def test_published_schemas_accept_them(tmp_path: Path, schema: str, text: str) -> None:
    pytest.importorskip("check_jsonschema")
    file = tmp_path / "file.yml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_inputs_reach_scripts_as_variables_only() -> None:
    """A text of somebody else inside a script would be run."""
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 5
    assert not any("${{" in script for script in scripts)


class Checkout(NamedTuple):
    """A repository whose working tree differs from HEAD, and the environment of a step."""

    root: Path
    environment: dict[str, str]

    def bash(self, script: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.root,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    def read(self, name: str) -> str:
        return (self.root.parent / name).read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, programs = tmp_path / "repository", tmp_path / "programs"
    root.mkdir()
    programs.mkdir()
    (programs / "gh").write_text(GH, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    (root / "a.stream").write_text(SPEC, encoding="utf-8")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *identity, *words], cwd=root, check=True)
    own = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    files = {name: str(tmp_path / name) for name in ("CALLS", "KNOWN")}
    files |= {f"GITHUB_{name}": str(tmp_path / name) for name in ("STEP_SUMMARY", "OUTPUT")}
    for name in files.values():
        Path(name).touch()
    known = {"RUNNER_TEMP": str(tmp_path), "GITHUB_REPOSITORY": "o/r", "NUMBER": "7"}
    return Checkout(root, {**os.environ, "PATH": own, **files, **known})


def step(name: str) -> str:
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (found,) = (one for one in steps if one.get("name") == name)
    script = found["run"]
    assert isinstance(script, str)
    return script


CHANGED = SPEC.replace("SUM(cost)", "MAX(cost)")
MISTAKEN = SPEC.replace("SUM(cost)", "SUM(cots)")


@pytest.mark.slow
@pytest.mark.parametrize(("text", "code"), [(SPEC, 0), (CHANGED, 1), (MISTAKEN, 2)])
def test_the_action(checkout: Checkout, text: str, code: int) -> None:
    (checkout.root / "a.stream").write_text(text, encoding="utf-8")
    described = checkout.bash(step("Describe the changes"), PATHS=".", BASE="HEAD")
    assert described.returncode == 0, described.stderr
    assert checkout.read("OUTPUT") == f"exit-code={code}\n"
    assert checkout.read("STEP_SUMMARY") == checkout.read("review.md")
    assert ("a.stream" in checkout.read("review.md")) == (code > 0)
    marked = checkout.bash(step("Mark mistakes"), PATHS=".")
    assert marked.returncode == (2 if code == 2 else 0)
    assert marked.stdout.startswith("::error file=a.stream,line=") == (code == 2)
    ended = checkout.bash(step("Fail for mistakes in migration files"), CODE=str(code))
    assert ended.returncode == (2 if code == 2 else 0)


def test_a_base_that_does_not_exist_fails_at_once(checkout: Checkout) -> None:
    ended = checkout.bash(step("Describe the changes"), PATHS=".", BASE="", GITHUB_BASE_REF="gone")
    assert ended.returncode == 2
    assert "origin/gone" in ended.stderr


@pytest.mark.parametrize(
    ("known", "call"),
    [
        ("", "--method POST repos/o/r/issues/7/comments -F"),
        ("42\n43\n", "--method PATCH repos/o/r/issues/comments/42 -F"),
    ],
)
def test_one_comment_is_kept(checkout: Checkout, known: str, call: str) -> None:
    (checkout.root.parent / "review.md").write_text("what changes\n", encoding="utf-8")
    (checkout.root.parent / "KNOWN").write_text(known, encoding="utf-8")
    ended = checkout.bash(step("Comment on the pull request"))
    assert ended.returncode == 0, ended.stderr
    asked, written = checkout.read("CALLS").splitlines()
    assert asked.startswith("api --paginate repos/o/r/issues/7/comments --jq ")
    assert call in written
    assert checkout.read("comment.md") == "<!-- streamc review -->\nwhat changes\n"


@pytest.mark.slow
@pytest.mark.parametrize(("text", "code"), [(SPEC, 0), (CHANGED, 0), (MISTAKEN, 1)])
def test_the_job(checkout: Checkout, text: str, code: int) -> None:
    (checkout.root / "a.stream").write_text(text, encoding="utf-8")
    job: Any = yaml.safe_load(JOB.read_text(encoding="utf-8"))["streamc-review"]
    base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "STREAMC_PATHS": "."}
    ended = checkout.bash("\n".join(job["script"]), **base)
    assert ended.returncode == code, ended.stderr
    made = checkout.root / "streamc-review"
    assert ("a.stream" in (made / "review.md").read_text(encoding="utf-8")) == (text != SPEC)
    assert ("<failure" in (made / "junit.xml").read_text(encoding="utf-8")) == (code == 1)
