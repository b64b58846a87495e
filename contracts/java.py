"""What makes Spark run Java code that is not in the spec: functions, settings, options.

Most settings are switches and amounts, and can't. Of texts only those are accepted that are known
to name no class, no program and no archive: an unknown name is rejected, and ``allow: [java]`` in
the front matter accepts it.
"""

from __future__ import annotations

import re

from .plain import is_switch_or_amount
from .reserved import reserved

ALLOW = "java"
"""The word that the front matter allows it with."""

_FUNCTIONS = frozenset({"java_method", "reflect", "try_reflect"})
_BY_DESCRIPTOR = frozenset({"from_protobuf", "to_protobuf"})
"""Functions that take the name of a class, unless a descriptor follows it."""

_LEVELS = ("trace", "debug", "info", "warn", "error", "fatal", "off", "all")
_REBASE = ("exception", "corrected", "legacy")
_CODECS = ("lz4", "lzf", "snappy", "zstd")
_OF_FILES = "none uncompressed gzip brotli bzip2 deflate xz zlib lzo lz4_raw".split()
_FILES = (*_OF_FILES, *_CODECS)
_CHOICES: dict[str, tuple[str, ...]] = {
    "spark.eventLog.compression.codec": _CODECS,
    "spark.io.compression.codec": _CODECS,
    "spark.log.level": _LEVELS,
    "spark.scheduler.mode": ("fifo", "fair"),
    "spark.serializer": (
        "org.apache.spark.serializer.javaserializer",
        "org.apache.spark.serializer.kryoserializer",
    ),
    "spark.shuffle.manager": ("sort", "tungsten-sort"),
    "spark.shuffle.mapStatus.compression.codec": _CODECS,
    "spark.sql.avro.compression.codec": _FILES,
    "spark.sql.avro.datetimeRebaseModeInRead": _REBASE,
    "spark.sql.avro.datetimeRebaseModeInWrite": _REBASE,
    "spark.sql.codegen.factoryMode": ("fallback", "codegen_only", "no_codegen"),
    "spark.sql.execution.arrow.compression.codec": ("none", "lz4", "zstd"),
    "spark.sql.legacy.timeParserPolicy": _REBASE,
    "spark.sql.mapKeyDedupPolicy": ("exception", "last_win"),
    "spark.sql.orc.compression.codec": _FILES,
    "spark.sql.orc.impl": ("native", "hive"),
    "spark.sql.parquet.compression.codec": _FILES,
    "spark.sql.parquet.datetimeRebaseModeInRead": _REBASE,
    "spark.sql.parquet.datetimeRebaseModeInWrite": _REBASE,
    "spark.sql.parquet.int96RebaseModeInRead": _REBASE,
    "spark.sql.parquet.int96RebaseModeInWrite": _REBASE,
    "spark.sql.parquet.outputTimestampType": ("int96", "timestamp_micros", "timestamp_millis"),
    "spark.sql.storeAssignmentPolicy": ("ansi", "legacy", "strict"),
    "spark.sql.streaming.multipleWatermarkPolicy": ("min", "max"),
    "spark.sql.streaming.stateStore.compression.codec": _CODECS,
    "spark.sql.timestampType": ("timestamp_ltz", "timestamp_ntz"),
    "spark.sql.ui.explainMode": ("simple", "extended", "codegen", "cost", "formatted"),
    "spark.submit.deployMode": ("client", "cluster"),
    "spark.hadoop.fs.s3a.committer.name": ("directory", "partitioned", "magic", "file"),
}
"""Values that name no class, in lower case, of settings whose values may."""

_TEXTS = frozenset(
    name.lower()
    for name in """
    spark.app.name spark.app.id spark.master spark.driver.host spark.driver.bindAddress
    spark.driver.memoryOverhead spark.executor.memoryOverhead spark.local.dir spark.eventLog.dir
    spark.log.callerContext spark.job.description spark.jobGroup.id spark.job.tags
    spark.authenticate.secret spark.authenticate.secret.file
    spark.redaction.regex spark.redaction.string.regex spark.sql.redaction.options.regex
    spark.sql.redaction.string.regex spark.kerberos.principal spark.kerberos.keytab
    spark.kerberos.access.hadoopFileSystems spark.metrics.namespace
    spark.sql.adaptive.logLevel spark.sql.codegen.logLevel spark.sql.planChangeLog.level
    spark.sql.optimizer.excludedRules spark.sql.adaptive.optimizer.excludedRules
    spark.sql.optimizer.nestedPredicatePushdown.supportedFileSources
    spark.sql.sources.useV1SourceList spark.sql.sources.useListFilesFileSystemList
    spark.sql.sources.default spark.sql.sources.partitionOverwriteMode spark.sql.warehouse.dir
    spark.sql.session.localRelationCacheThreshold spark.sql.columnNameOfCorruptRecord
    spark.sql.error.messageFormat spark.sql.defaultCacheStorageLevel spark.scheduler.pool
    spark.kubernetes.namespace spark.kubernetes.context spark.yarn.queue
    spark.io.encryption.keygen.algorithm spark.shuffle.checksum.algorithm
    spark.ui.reverseProxyUrl spark.ui.view.acls spark.admin.acls spark.modify.acls
    spark.hadoop.hadoop.security.credential.provider.path
    """.split()
)
"""Settings whose values are never run."""

_FAMILIES = (
    "spark.hadoop.fs.",
    "spark.hadoop.dfs.",
    "spark.hadoop.google.",
    "spark.hadoop.hadoop.security.",
    "spark.hadoop.mapreduce.fileoutputcommitter.",
    "spark.hadoop.orc.",
    "spark.hadoop.parquet.",
    "spark.kafka.clusters.",
    "spark.kafka.consumer.",
    "spark.kafka.producer.",
    "spark.network.crypto.",
    "spark.resource.",
    "spark.ssl.",
)
"""Settings whose values are accepted, as their names are unrelated to code."""

_HANDED_ON = ("kafka.", "parquet.", "orc.")
_OF_CODE = frozenset(
    "agent agentlib args callback class classes classloader classname classpath cmd codec codecs "
    "command committer exec executable extension extensions factory filter filters groups handler "
    "impl implementation implementations interceptor interceptors jar jars javaagent library "
    "listener listeners loader manager mapper mapping mappings module modules options opts package "
    "packages partitioner plugin plugins policy program provider providers python registrator "
    "reporter reporters repositories resolver resolvers script serialization serializations "
    "serializer deserializer service shell strategy validator validators".split()
)
"""Words in the names of settings whose values are classes, programs or archives."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_CLASS = re.compile(r"(?:^|[\s,;=:'\"])(?:[A-Za-z_$][\w$]*\.)+[A-Z][\w$]*")
_LOGIN_MODULES = (
    r"(?:org\.apache\.kafka\.common\.security\.(?:plain\.PlainLoginModule|scram\.ScramLoginModule|"
    r"oauthbearer\.OAuthBearerLoginModule)|com\.(?:sun|ibm)\.security\.auth\.module\.Krb5LoginModule|"
    r"software\.amazon\.msk\.auth\.iam\.IAMLoginModule)"
)
_JAAS = re.compile(
    rf"\s*{_LOGIN_MODULES}\s+(?i:required|requisite|sufficient|optional)"
    r"(?:\s+[\w.-]+\s*=\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s;\"']+))*\s*;?\s*"
)
_HOLES = re.compile(r"(?:\$\{[^{}]*\}|\s)*")


def function_runs_java(name: str, arguments: int) -> bool:
    """Return whether a function of Spark calls a class by its name."""
    folded = name.lower()
    return folded in _FUNCTIONS or (folded in _BY_DESCRIPTOR and arguments < 3)


def setting_runs_java(name: str, value: str) -> bool:
    """Return whether a setting of Spark may run code that is not in the spec.

    >>> setting_runs_java("spark.plugins", "Evil"), setting_runs_java("spark.speculation", "true")
    (True, False)
    """
    if _names_nothing(value) or reserved(name) is not None:
        return False
    folded = name.lower()
    if folded in _FOLDED:
        return value.strip().lower() not in _FOLDED[folded]
    if folded in _TEXTS:
        return False
    if not folded.startswith(_FAMILIES):
        return True
    return _may_name_code(name, value) or (not _is_jaas(name) and _CLASS.search(value) is not None)


def option_runs_java(name: str, value: str) -> bool:
    """Return whether an option of a reader or writer may run such code in a library.

    Spark's own options are listed elsewhere, and none of them does.

    >>> option_runs_java("kafka.interceptor.classes", "Evil")
    True
    >>> option_runs_java("kafka.ssl.truststore.location", "/etc/trust.jks")
    False
    """
    return name.lower().startswith(_HANDED_ON) and _may_name_code(name, value)


def _may_name_code(name: str, value: str) -> bool:
    if _names_nothing(value):
        return False
    if _is_jaas(name):
        return _HOLES.fullmatch(value) is None and _JAAS.fullmatch(value) is None
    words = {word.lower() for word in _WORD.findall(name)}
    return not words.isdisjoint(_OF_CODE)


def _names_nothing(value: str) -> bool:
    """Whether a text can't be the name of a class, program or archive."""
    return not value.strip() or is_switch_or_amount(value.strip())


def _is_jaas(name: str) -> bool:
    return name.lower().endswith("jaas.config")


_FOLDED = {name.lower(): choices for name, choices in _CHOICES.items()}
