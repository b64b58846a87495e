"""Functions in Python: what is reported when they can't be loaded, and when they fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from streamc.runtime.base.modules import load_function

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONG = pytest.mark.long
SPEC = """\
---
pipeline: scores
variables: {in: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE FUNCTION risk(amount DOUBLE) RETURNS DOUBLE AS 'module_of_scores:score';

CREATE SOURCE payments (amount DOUBLE)
WITH (connector = 'files', path = '${in}/payments', format = 'json');

CREATE STREAM scored AS SELECT amount, risk(amount) AS risk FROM payments;

CREATE SINK out FROM scored WITH (connector = 'memory');
"""


def score(root: Path, spark: SparkSession, module: str | None) -> Result:
    (root / "payments").mkdir()
    (root / "payments" / "1.json").write_text('{"amount": 2}\n{"amount": 3}\n', encoding="utf-8")
    if module is not None:
        (root / "module_of_scores.py").write_text(module, encoding="utf-8")
    sys.modules.pop("module_of_scores", None)
    asked = Arguments(until_caught_up=True, variables={"in": str(root)}, state=str(root / "state"))
    script = written(compiled_text(SPEC, "scores.stream"), root)
    return run_script(script, asked, spark=spark)


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("module_of_nobody:score", "SR0305", "there is no module `module_of_nobody`"),
        ("module_of_nobody.inner:score", "SR0305", "there is no module `module_of_nobody.inner`"),
        ("module_here:scoer", "SR0305", "module `module_here` has no function `scoer`"),
        ("module_here:NUMBER", "SR0305", "module `module_here` has no function `NUMBER`"),
        ("module_here.score", "SR0305", "`module_here.score` is not `module:name`"),
        ("module_bad:score", "SR0311", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("module_wants:score", "SR0311", "No module named 'package_of_nobody'"),
        ("module_half:score", "SR0311", "cannot be loaded: SyntaxError"),
    ],
)
def test_a_function_that_cannot_be_had(target: str, code: str, said: str, tmp_path: Path) -> None:
    modules = {
        "module_here": "NUMBER = 1\n\n\ndef score(n):\n    return n\n",
        "module_bad": "1 / 0\n",
        "module_wants": "import package_of_nobody\n",
        "module_half": "def score(\n",
    }
    for name, text in modules.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        sys.modules.pop(name, None)
    with pytest.raises(RuntimeFault) as caught:
        load_function(target, "function `risk`", [str(tmp_path)], "def {name}(n)")
    assert caught.value.code.number == code
    assert caught.value.message.startswith("function `risk`: ")
    assert said in caught.value.message


@pytest.mark.spark
def test_a_missing_module_is_reported_before_a_query_starts(
    tmp_path: Path, spark: SparkSession
) -> None:
    with pytest.raises(RuntimeFault, match="function `risk`: there is no module") as caught:
        score(tmp_path, spark, None)
    assert caught.value.exit_code == 2
    assert not list((tmp_path / "state" / "generations").glob("*/queries"))


@pytest.mark.spark
def test_missing_pandas_is_reported_before_a_query_starts(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RuntimeFault) as caught:
        score(tmp_path, spark, "def score(n):\n    return n\n")
    text = caught.value.render()
    assert text.startswith("error[SR0310] pandas-missing: function `risk` is called with pandas")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "    if amount.max() > 2:\n        raise ValueError('too much')\n    return amount\n",
            "query `scored` failed: function `risk` (module_of_scores:score) raised\n"
            '  File "{folder}/module_of_scores.py", line 3, in score\n'
            "    raise ValueError('too much')\n"
            "ValueError: too much\n",
        ),
        ("    return amount[:1]\n", "`risk` (module_of_scores:score) gave 1 values for 2 rows\n"),
        pytest.param(
            "    return 7\n", "`risk` (module_of_scores:score) gave 7 for 2 rows\n", marks=LONG
        ),
        pytest.param(
            "    return amount.astype(str) + ' euros'\n",
            "PySparkValueError: Failed to convert the value",
            marks=LONG,
        ),
    ],
)
def test_an_error_names_the_function_and_the_query(
    body: str, said: str, tmp_path: Path, spark: SparkSession
) -> None:
    result = score(tmp_path, spark, f"def score(amount):\n{body}")
    assert result.exit_code == 1
    (failure,) = result.failures
    assert said.format(folder=tmp_path) in f"{failure.render()}\n"
    assert "Traceback" not in failure.render()


@pytest.mark.spark
def test_a_function_gets_the_module_beside_the_script(tmp_path: Path, spark: SparkSession) -> None:
    result = score(tmp_path, spark, "def score(amount):\n    return amount * 2\n")
    assert [tuple(row) for row in result.rows["out"]] == [(2.0, 4.0), (3.0, 6.0)]
