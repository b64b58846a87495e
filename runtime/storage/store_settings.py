"""What reaches a store: the settings that Spark would use, without a JVM.

In increasing precedence: `core-site.xml` in HADOOP_CONF_DIR, `spark-defaults.conf` in
SPARK_CONF_DIR (or in `conf` of SPARK_HOME), and what a command is given. An option of one bucket
takes the place of the same one of all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...contracts.redaction import remember
from ...contracts.secrets import is_secret_name
from ..base.errors import BAD_ARGUMENT, RuntimeFault

_HADOOP = "spark.hadoop."
_LINE = re.compile(r"\s*([^\s=:]+)\s*[\s=:]\s*(.*?)\s*")
_SIMPLE = (
    "SimpleAWSCredentialsProvider",
    "TemporaryAWSCredentialsProvider",
    "EnvironmentVariableCredentialsProvider",
    "ProfileCredentialsProvider",
    "ProfileAWSCredentialsProvider",
    "IAMInstanceCredentialsProvider",
    "InstanceProfileCredentialsProvider",
    "ContainerCredentialsProvider",
    "DefaultCredentialsProvider",
    "DefaultAWSCredentialsProviderChain",
)
"""Providers that take keys from the settings, or from where AWS's own chain looks for them."""
_ANONYMOUS = "AnonymousAWSCredentialsProvider"


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Spark's settings by name; `given` are those of the command line alone."""

    given: Mapping[str, str]
    values: Mapping[str, str]

    @classmethod
    def of(cls, given: Sequence[str] = ()) -> StoreSettings:
        """The settings, with those given as `KEY=VALUE` first; their secrets are redacted from now.

        Raises RuntimeFault for one of another form.
        """
        own = dict(map(_parsed, given))
        values = {**_of_hadoop(), **_of_spark(), **own}
        for name, value in values.items():
            if is_secret_name(name):
                remember(value)
        return cls(own, values)

    def hadoop(self, name: str) -> str | None:
        """A setting of Hadoop's, without the prefix by which Spark passes it on."""
        return self.values.get(_HADOOP + name)

    def s3(self, bucket: str) -> S3Settings:
        """What reaches a bucket."""
        return S3Settings(self, bucket)


@dataclass(frozen=True, slots=True)
class S3Settings:
    """What reaches a bucket of S3, as the options of S3A say it."""

    settings: StoreSettings
    bucket: str

    def option(self, name: str) -> str | None:
        """An option by its name after `fs.s3a.`, None if it is not set or empty."""
        own = self.settings.hadoop(f"fs.s3a.bucket.{self.bucket}.{name}")
        found = own if own is not None else self.settings.hadoop(f"fs.s3a.{name}")
        return found.strip() or None if found is not None else None

    @property
    def needs_hadoop(self) -> str | None:
        """The option that only Hadoop's own client understands, None if there is none."""
        providers = self._providers
        if any(one not in (*_SIMPLE, _ANONYMOUS) for one in providers):
            return "fs.s3a.aws.credentials.provider"
        for name in ("encryption.algorithm", "server-side-encryption-algorithm"):
            if (self.option(name) or "").upper() in ("SSE-C", "CSE-KMS", "CSE-CUSTOM"):
                return f"fs.s3a.{name}"
        for name in ("assumed.role.arn", "proxy.host", "security.credential.provider.path"):
            if self.option(name) is not None:
                return f"fs.s3a.{name}"
        path = "hadoop.security.credential.provider.path"
        return path if self.settings.hadoop(path) else None

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of `pyarrow.fs.S3FileSystem`; without keys AWS's own chain finds them."""
        found: dict[str, object] = {}
        keys = {"access_key": "access.key", "secret_key": "secret.key"}
        if self._providers == [_ANONYMOUS]:
            found["anonymous"] = True
        elif all(self.option(name) for name in keys.values()):
            found |= {argument: self.option(name) for argument, name in keys.items()}
            if (token := self.option("session.token")) is not None:
                found["session_token"] = token
        if (region := self.option("endpoint.region")) is not None:
            found["region"] = region
        endpoint = self.option("endpoint") or os.environ.get("AWS_ENDPOINT_URL_S3")
        endpoint = endpoint or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint is not None:
            scheme, _, host = endpoint.rpartition("://")
            secure = (self.option("connection.ssl.enabled") or "true").lower() != "false"
            found["endpoint_override"] = host.rstrip("/")
            found["scheme"] = scheme or ("https" if secure else "http")
            found.setdefault("region", "us-east-1")
            path_style = (self.option("path.style.access") or "false").lower() == "true"
            # A host that is an address, or has no dots, can't have a bucket before it.
            named = re.search(r"[a-z][^:]*\.[a-z]", host, re.IGNORECASE) is not None
            found["force_virtual_addressing"] = named and not path_style
        return found

    @property
    def shown_endpoint(self) -> str:
        """Where requests go."""
        endpoint = self.arguments.get("endpoint_override")
        return "Amazon S3" if endpoint is None else str(endpoint)

    @property
    def _providers(self) -> list[str]:
        named = (self.option("aws.credentials.provider") or "").split(",")
        return [one.strip().rpartition(".")[2] for one in named if one.strip()]


def _parsed(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name.startswith("spark."):
        shown = name if equals else "a value without `=`"
        raise RuntimeFault(
            BAD_ARGUMENT,
            f"--conf takes a setting of Spark, `spark.…=VALUE`, not {shown}",
            "settings of a store begin with `spark.hadoop.`: "
            "--conf spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:9000",
        )
    return name.strip(), value.strip()


def _of_spark() -> Mapping[str, str]:
    """The settings of `spark-defaults.conf`, where Spark looks for it."""
    folder = os.environ.get("SPARK_CONF_DIR")
    home = os.environ.get("SPARK_HOME")
    if folder is None and home is not None:
        folder = f"{home}/conf"
    text = None if folder is None else _text(Path(folder, "spark-defaults.conf"))
    return dict(_lines(text or ""))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is not None and not found[1].startswith(("#", "!")):
            yield found[1], found[2]


def _of_hadoop() -> Mapping[str, str]:
    """The settings of `core-site.xml`, by the names that Spark would give them."""
    folder = os.environ.get("HADOOP_CONF_DIR")
    text = None if folder is None else _text(Path(folder, "core-site.xml"))
    if text is None:
        return {}
    from xml.etree import ElementTree

    try:
        found = ElementTree.fromstring(text).iter("property")
        pairs = [(one.findtext("name"), one.findtext("value")) for one in found]
    except ElementTree.ParseError as error:
        raise RuntimeFault(
            BAD_ARGUMENT,
            f"{folder}/core-site.xml cannot be read: {error}",
            "mend it, or point HADOOP_CONF_DIR elsewhere",
        ) from None
    return {_HADOOP + name.strip(): (value or "").strip() for name, value in pairs if name}


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise RuntimeFault(BAD_ARGUMENT, f"{path} cannot be read: {error}", None) from None
