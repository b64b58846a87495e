"""The stores of the tests in this folder, each started once for all of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters.servers import Store, cluster_jars, running_hdfs, running_s3


def jars(name: str) -> Path:
    found = cluster_jars(name)
    if found is None:
        pytest.skip(f"the jars of {name} need Maven and its repository")
    return found


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if importlib.util.find_spec("moto") is None:
        pytest.skip("the S3 server needs the package moto")
    with running_s3(jars("s3"), tmp_path_factory.mktemp("s3")) as store:
        yield store


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with running_hdfs(jars("hdfs"), tmp_path_factory.mktemp("hdfs")) as store:
        yield store


@pytest.fixture(scope="session", params=["s3", "hdfs"])
def store(request: pytest.FixtureRequest) -> Store:
    found: Store = request.getfixturevalue(request.param)
    return found
