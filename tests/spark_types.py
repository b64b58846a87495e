"""The verdict of Spark's analyzer on expressions over the columns of ``typed_expressions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from streamc.compiler.model import types as t
from typed_expressions import Checked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spelt(type_text: str) -> str:
    """Return Spark's spelling of a type as the compiler's, or the other way round."""
    return type_text.lower().replace(": ", ":").replace(", ", ",")


def of_spark(spark: SparkSession, texts: list[str]) -> list[tuple[str, bool]]:
    """Return type and nullability of expressions, analyzed in one go."""
    items = ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts))
    schema = spark.sql(f"SELECT {items} FROM typed_columns").schema
    return [(spelt(field.dataType.simpleString()), field.nullable) for field in schema]


def is_refused(spark: SparkSession, text: str) -> bool:
    """Return whether Spark's analyzer rejects an expression."""
    try:
        spark.sql(f"SELECT {text} FROM typed_columns")
    except AnalysisException:
        return True
    return False


def differences(spark: SparkSession, found: dict[str, Checked]) -> list[str]:
    """Return where Spark differs on expressions that the compiler accepts."""
    texts = [text for text, one in found.items() if not one.diagnostics]
    try:
        answers = of_spark(spark, texts)
    except AnalysisException:
        return [f"{text}: Spark refuses it" for text in texts if is_refused(spark, text)]
    wrong: list[str] = []
    for text, (type_text, nullable) in zip(texts, answers, strict=True):
        value = found[text].value
        if t.is_known(value.type) and spelt(str(value.type)) != type_text:
            wrong.append(f"{text}: {value.type}, for Spark {type_text}")
        if nullable and not value.nullable and t.is_known(value.type):
            wrong.append(f"{text}: never NULL, for Spark it may be")
    return wrong
