"""`streamc init`: what it makes is a pipeline that checks clean and passes its own test."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import Run, run

__all__ = ["run"]

FILES = [".gitignore", "README.md", "data/orders/10-00.json", "shop.stream", "tests/sales.yaml"]


def made(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_new_folder(run: Run) -> None:
    ended = run("init", "shop")
    assert (ended.code, ended.err) == (0, "")
    assert made(Path("shop")) == FILES
    assert "wrote shop/shop.stream\n" in ended.out
    assert ended.out.endswith(
        "\nnext:\n"
        "    cd shop\n"
        "    streamc check shop.stream\n"
        "    streamc test\n"
        "    streamc run shop.stream --until-caught-up\n"
    )
    assert "streamc run shop.stream --until-caught-up" in Path("shop/README.md").read_text()


def test_the_spec_is_sound_and_formatted(run: Run) -> None:
    run("init", "shop")
    assert run("check", "shop").out == "1 spec checked, no errors\n"
    assert run("compile", "shop", "-o", "shop/build").code == 0
    assert run("fmt", "--check", "shop/shop.stream").code == 0


def test_what_is_compiled_is_there_to_be_committed(run: Run) -> None:
    run("init", "shop")
    ignored = Path("shop/.gitignore").read_text(encoding="utf-8").split()
    assert ignored == ["state/", "out/", "__pycache__/"]
    assert "commit it with the spec" in Path("shop/README.md").read_text(encoding="utf-8")


def test_an_empty_folder_is_taken(run: Run) -> None:
    Path("deep/shop").mkdir(parents=True)
    assert run("init", "deep/shop").code == 0
    assert made(Path("deep/shop")) == FILES


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("Shop-Sales", "as in `shop_sales`"),
        ("2nd", "use lower-case letters"),
        ("shop.stream", "as in `shop_stream`"),
    ],
)
def test_a_name_that_no_pipeline_can_have(run: Run, name: str, help_: str) -> None:
    ended = run("init", name)
    assert (ended.code, ended.out) == (2, "")
    assert f"`{name}` cannot name a pipeline" in ended.err and help_ in ended.err
    assert not Path(name).exists()


def test_a_folder_that_holds_something_is_left_alone(run: Run) -> None:
    Path("shop").mkdir()
    Path("shop/notes.txt").write_text("mine")
    ended = run("init", "shop")
    assert ended.code == 2
    assert "shop already exists, and is not empty" in ended.err
    assert made(Path("shop")) == ["notes.txt"]


@pytest.mark.spark
def test_it_passes_its_own_test(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init", "shop")
    monkeypatch.chdir("shop")
    ended = run("test")
    assert ended.code == 0, ended.out
