"""The examples in `deploy/`: well formed, and of commands and files that exist.

None of them is run here: there is no Docker, Kubernetes or Airflow. systemd checks its unit where
it is installed.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main
import yaml
from streamc.cli.app import app

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd" / "streamc@.service"
DAG = DEPLOY / "airflow" / "card_fraud.py"
DOCKERFILE = DEPLOY / "Dockerfile"


def check(words: list[str]) -> None:
    """Parse a command line of streamc as its command would."""
    command: Any = typer.main.get_command(app)
    context = click.Context(command)
    rest = words
    while hasattr(command, "get_command"):
        found = command.get_command(context, rest[0])
        assert found is not None, f"streamc has no command {rest[0]}"
        command, rest = found, rest[1:]
    command.make_context(command.name, list(rest), resilient_parsing=False)


def manifest(name: str) -> dict[str, Any]:
    (found,) = yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def directives() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def dockerfile() -> dict[str, list[str]]:
    text = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition(" ")
            found.setdefault(name, []).append(value.strip())
    return found


def test_a_command_that_does_not_exist_is_seen() -> None:
    with pytest.raises(Exception, match="No such option"):
        check(["run", "x.py", "--nothing"])
    with pytest.raises(AssertionError):
        check(["walk", "x.py"])


def test_the_image() -> None:
    found = dockerfile()
    entry, command = (json.loads(found[name][0]) for name in ("ENTRYPOINT", "CMD"))
    assert entry[-1] == "streamc" and found["USER"] == ["10001"]
    check(command)
    for line in found["RUN"]:
        for one in re.split(r"&&", line):
            words = shlex.split(one)
            if words[0] == "streamc":
                check(words[1:])
    for line in found["COPY"]:
        source = shlex.split(line)[0]
        assert (ROOT / source).exists(), source


def test_the_job() -> None:
    found = manifest("job.yaml")
    assert (found["apiVersion"], found["kind"]) == ("batch/v1", "Job")
    pod = found["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # a Job with a policy for failures needs this
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    (rule,) = found["spec"]["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"]["containerName"] == container["name"]
    assert rule["onExitCodes"]["values"] == [2]
    check(container["args"])


def test_the_spark_application() -> None:
    found = manifest("spark-application.yaml")
    assert found["apiVersion"] == "sparkoperator.k8s.io/v1beta2"
    assert found["kind"] == "SparkApplication"
    spec = found["spec"]
    required = {"type", "mode", "sparkVersion", "mainApplicationFile", "driver", "executor"}
    assert required <= spec.keys() and spec["type"] == "Python"
    assert spec["restartPolicy"]["type"] in ("Never", "Always", "OnFailure")
    import pyspark
    from streamc import __version__

    assert spec["sparkVersion"] == pyspark.__version__
    names = {Path(path).name for part in spec["deps"].values() for path in part}
    assert names == {
        f"streamc-{__version__}.zip",
        f"streamc-kernel-{pyspark.__version__}-DIGEST.jar",
        "card_fraud.plan.json",
        "card_fraud.spec",
    }
    check(["run", "card_fraud.py", *spec["arguments"]])


def test_the_unit() -> None:
    found = directives()
    assert found["Restart"] == ["on-failure"] and found["RestartPreventExitStatus"] == ["2"]
    for name in ("ExecStart", "ExecStop"):
        program, *words = shlex.split(found[name][0].lstrip("-"))
        assert program.endswith("/streamc")
        check(words)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """With a program that exists, and without the user that the unit runs as."""
    text = UNIT.read_text(encoding="utf-8").replace("/opt/streamc/bin/streamc", "/bin/true")
    unit = tmp_path / "streamc@x.service"
    unit.write_text(re.sub(r"(?m)^(User|Group)=.*\n", "", text), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr


def test_the_dag() -> None:
    text = DAG.read_text(encoding="utf-8")
    code = compile(text, str(DAG), "exec")
    assert "max_active_runs=1" in text
    values: dict[str, Any] = {}
    head = text[text.index("STATE = ") : text.index("with DAG(")]
    exec(compile(head, str(DAG), "exec"), values)
    for name in ("RUN", "SAVEPOINT", "BACKUP"):
        assert name in code.co_names
        program, *words = shlex.split(re.sub(r"{{ \w+ }}", "20260301", values[name]))
        assert program == "streamc"
        check(words)
