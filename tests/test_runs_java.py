"""What would run code that the spec does not show: rejected, unless the front matter allows it."""

from __future__ import annotations

import pytest
from streamc.compiler.driver import compile_source
from streamc.compiler.migrate.files.expressions import BadExpression, parsed
from streamc.contracts.java import option_runs_java, setting_runs_java
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.base.java_code import check_options, check_settings

SOURCE = """CREATE SOURCE s (x STRING) WITH (connector = 'files', path = 'in', format = 'json');
"""
SINK = "CREATE SINK out FROM s WITH (connector = 'memory');\n"
CALL = "{}('java.lang.System', 'exit', 1)"


def codes(text: str) -> set[str]:
    return {one.code.number for one in compile_source(SourceFile("s.stream", text)).diagnostics}


@pytest.mark.parametrize("name", ["reflect", "JAVA_METHOD", "try_reflect", "`Reflect`"])
@pytest.mark.parametrize(
    "place",
    [
        "CREATE SOURCE s (x STRING, y AS {}) WITH (connector = 'files', path = 'in', "
        "format = 'json');",
        SOURCE + "CREATE STREAM t AS SELECT CAST({} AS STRING) AS y FROM s;",
        SOURCE + "CREATE STREAM t AS SELECT x FROM s WHERE x = {};",
        SOURCE + "CREATE STREAM t AS SELECT transform(array(x), v -> {}) AS y FROM s;",
        SOURCE + "CREATE STREAM t AS WITH a AS (SELECT {} AS y FROM s) SELECT y FROM a;",
        SOURCE + "CREATE STREAM t AS SELECT CASE WHEN x = 'a' THEN {} END AS y FROM s;",
        SOURCE + "CREATE FUNCTION f(x STRING) RETURNS STRING RETURN concat(x, {});",
        SOURCE + "CREATE STREAM t AS SELECT x, COUNT(*) FILTER (WHERE {} = 'a') AS n FROM s "
        "GROUP BY x;",
    ],
)
def test_no_call_of_a_class_anywhere(place: str, name: str) -> None:
    text = place.format(CALL.format(name)) + "\n" + SINK
    assert "SC0609" in codes(text)
    assert "SC0609" not in codes(f"---\nallow: [java]\n---\n{text}")


def test_names_in_texts_are_no_way_round() -> None:
    for call in ("system.builtin.reflect('a', 'b')", "IDENTIFIER('reflect')('a', 'b')"):
        text = f"{SOURCE}CREATE STREAM t AS SELECT {call} AS y FROM s;\n{SINK}"
        assert codes(text), call
    with pytest.raises(BadExpression):
        parsed("concat(old.x, reflect('java.lang.System', 'getenv', 'HOME'))")


REFUSED = """
    spark.plugins spark.extraListeners spark.sql.extensions spark.jars spark.jars.packages
    spark.jars.repositories spark.jars.ivySettings spark.files spark.archives spark.submit.pyFiles
    spark.driver.extraJavaOptions spark.executor.extraJavaOptions spark.driver.defaultJavaOptions
    spark.driver.extraClassPath spark.executor.extraClassPath spark.executor.extraLibraryPath
    spark.serializer spark.kryo.registrator spark.kryo.classesToRegister spark.shuffle.manager
    spark.sql.queryExecutionListeners spark.sql.streaming.streamingQueryListeners
    spark.sql.streaming.commitProtocolClass spark.sql.sources.commitProtocolClass
    spark.sql.catalog.shop spark.sql.hive.metastore.jars spark.sql.cache.serializer
    spark.metrics.conf spark.metrics.conf.*.sink.shop.class spark.io.compression.codec
    spark.hadoop.fs.shop.impl spark.hadoop.fs.AbstractFileSystem.shop.impl
    spark.hadoop.fs.s3a.aws.credentials.provider spark.hadoop.io.compression.codecs
    spark.hadoop.parquet.crypto.factory.class spark.hadoop.hadoop.security.group.mapping
    spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a spark.python.worker.module
    spark.pyspark.python spark.executorEnv.LD_PRELOAD spark.worker.resource.gpu.discoveryScript
    spark.resource.gpu.discoveryScript spark.ui.filters spark.user.groups.mapping
    spark.sql.parquet.output.committer.class spark.storage.replication.policy
    spark.shuffle.sort.io.plugin.class spark.kubernetes.executor.podTemplateFile
    spark.security.credentials.shop.provider spark.something.nobody.knows
""".split()

TAKEN = {
    "spark.sql.shuffle.partitions": "8",
    "spark.speculation": "true",
    "spark.executor.memory": "4g",
    "spark.locality.wait": "3s",
    "spark.memory.fraction": "0.6",
    "spark.master": "local[2]",
    "spark.app.name": "com.shop.Orders",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.io.compression.codec": "zstd",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
    "spark.hadoop.fs.s3a.endpoint": "http://localhost:9000",
    "spark.hadoop.fs.s3a.secret.key": "Se/cret",
    "spark.hadoop.fs.azure.account.auth.type.shop.dfs.core.windows.net": "OAuth",
    "spark.ssl.keyStore": "/etc/keys.jks",
    "spark.log.level": "ERROR",
    "spark.driver.bindAddress": "0.0.0.0",
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_that_could_run_code(name: str) -> None:
    """A class may be called by one word, and a profile is no way round."""
    for value in ("com.shop.Evil", "Evil", "${env:X}"):
        assert setting_runs_java(name, value)
    quoted = f"'{name}': Evil"
    for head in (f"spark: {{{quoted}}}", f"profiles: {{p: {{spark: {{{quoted}}}}}}}"):
        assert codes(f"---\n{head}\n---\n{SOURCE}{SINK}") == {"SC0609"}
        assert not codes(f"---\n{head}\nallow: [java]\n---\n{SOURCE}{SINK}")
    with pytest.raises(RuntimeFault) as caught:
        check_settings({name: "Evil"}, ())
    assert caught.value.code.number == "SR0207"
    check_settings({name: "Evil"}, ("java",))


@pytest.mark.parametrize(("name", "value"), TAKEN.items())
def test_settings_that_run_nothing(name: str, value: str) -> None:
    assert not setting_runs_java(name, value)
    assert not setting_runs_java(name, "1")


@pytest.mark.parametrize(
    ("name", "value", "runs"),
    [
        ("kafka.interceptor.classes", "Evil", True),
        ("kafka.metric.reporters", "Evil", True),
        ("kafka.partition.assignment.strategy", "Evil", True),
        ("kafka.sasl.login.callback.handler.class", "Evil", True),
        ("kafka.ssl.engine.factory.class", "Evil", True),
        ("kafka.sasl.kerberos.kinit.cmd", "/tmp/x", True),
        ("kafka.security.providers", "Evil", True),
        ("kafka.sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required;", True),
        ("kafka.sasl.jaas.config", "Evil required a=b;", True),
        (
            "kafka.sasl.jaas.config",
            'org.apache.kafka.common.security.plain.PlainLoginModule required password="${a}"; '
            "Evil optional;",
            True,
        ),
        (
            "kafka.sasl.jaas.config",
            "org.apache.kafka.common.security.scram.ScramLoginModule required\n"
            '  username="me" password="${env:X}";',
            False,
        ),
        ("kafka.sasl.jaas.config", "${env:JAAS}", False),
        ("kafka.sasl.mechanism", "SCRAM-SHA-512", False),
        ("kafka.ssl.truststore.location", "/etc/trust.jks", False),
        ("kafka.group.id", "com.shop.Orders", False),
        ("parquet.crypto.factory.class", "Evil", True),
        ("timestampFormat", "yyyy", False),
        ("pathGlobFilter", "*.json", False),
        ("compression", "gzip", False),
    ],
)
def test_options_that_are_handed_on(name: str, value: str, runs: bool) -> None:
    assert option_runs_java(name, value) is runs
    if runs:
        with pytest.raises(RuntimeFault) as caught:
            check_options("source `s`", {name: value}, ())
        assert caught.value.code.number == "SR0207"


def test_nothing_else_can_be_allowed() -> None:
    for head in ("allow: [python]", "allow: java", "profiles: {p: {allow: [java]}}"):
        assert codes(f"---\n{head}\n---\n{SOURCE}{SINK}") <= {"SC0604", "SC0602"}
        assert codes(f"---\n{head}\n---\n{SOURCE}{SINK}")
