"""What a store answers instead of what was asked for, as faults: unreachable, refused, missing."""

from __future__ import annotations

import re
from typing import Any

from ..base.errors import (
    NO_STATE_FOLDER,
    PACKAGE_MISSING,
    STATE_UNREADABLE,
    STORE_REFUSES,
    STORE_UNREACHABLE,
    RuntimeFault,
    first_line,
)

_AWS = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))?.*?operation:\s*(.*)", re.DOTALL)
_KEYS = (
    "check the keys: `fs.s3a.access.key` and `fs.s3a.secret.key` in spark-defaults.conf, or as\n"
    "--conf spark.hadoop.fs.s3a.access.key=…, or AWS's environment variables or profile"
)
_REACH = (
    "check the address (`fs.s3a.endpoint`, `fs.s3a.endpoint.region`) and the network; a setting\n"
    "is passed as --conf spark.hadoop.fs.s3a.endpoint=…"
)
_GONE = (
    "UnknownHostException",
    "ConnectException",
    "NoRouteToHostException",
    "SocketTimeoutException",
    "ConnectTimeoutException",
    "SocketException",
    "StandbyException",
    "RetriableException",
    "SafeModeException",
    "SdkClientException",
    "ApiCallTimeoutException",
    "EOFException",
)
_DENIED = (
    "AccessControlException",
    "AccessDeniedException",
    "NoAuthWithAWSException",
    "NoAwsCredentialsException",
    "CredentialInitializationException",
    "AuthenticationException",
    "SaslException",
    "LoginException",
)
_UNKNOWN = ("UnsupportedFileSystemException", "ClassNotFoundException")


def s3_fault(error: OSError, path: str, endpoint: str) -> RuntimeFault:
    """The fault for what S3 answered to a request for a path; `endpoint` is whom it was sent to."""
    found = _AWS.search(str(error))
    kind, status, told = found.groups() if found else ("", None, first_line(error))
    told = first_line(ValueError(told)).rstrip(".")
    if kind == "NO_SUCH_BUCKET":
        bucket = path.split("/")[2]
        return no_bucket(bucket, endpoint)
    if kind == "NETWORK_CONNECTION" or "curlCode" in told or "timed out" in told.lower():
        return RuntimeFault(
            STORE_UNREACHABLE, f"{endpoint} does not answer for {path}: {told}", _REACH
        )
    if status in ("401", "403") or kind in _KINDS_DENIED:
        what = kind.lower().replace("_", " ") if kind != "UNKNOWN" else f"HTTP status {status}"
        return RuntimeFault(STORE_REFUSES, f"{endpoint} refuses {path}: {what}", _KEYS)
    if status in ("301", "307", "400"):
        return RuntimeFault(
            STORE_REFUSES,
            f"{endpoint} refuses {path}: HTTP status {status}, as for a bucket of another region",
            _REACH,
        )
    return RuntimeFault(STATE_UNREADABLE, f"{path} cannot be read: {first_line(error)}", _REACH)


_KINDS_DENIED = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "INVALID_SIGNATURE",
    "MISSING_AUTHENTICATION_TOKEN",
    "UNRECOGNIZED_CLIENT",
    "EXPIRED_TOKEN",
    "REQUEST_EXPIRED",
)


def no_bucket(bucket: str, endpoint: str) -> RuntimeFault:
    """The fault for a bucket that does not exist."""
    return RuntimeFault(
        NO_STATE_FOLDER,
        f"{endpoint} has no bucket `{bucket}`",
        "pass the folder that the job was given as `state`, and the endpoint that it uses",
    )


def java_fault(error: Exception, path: str) -> RuntimeFault:
    """The fault for what a call of Hadoop raised; an error of py4j's own is one of the JVM."""
    thrown = getattr(error, "java_exception", None)
    if thrown is None:
        return RuntimeFault(
            STORE_UNREACHABLE,
            f"the JVM that reads {path} has ended: {first_line(error)}",
            "run the command again",
        )
    causes = list(_causes(thrown))
    kinds = [kind for kind, _ in causes]
    deepest = next((text for _, text in reversed(causes) if text), kinds[-1])
    told = first_line(ValueError(deepest))
    if "UnknownStoreException" in kinds:
        return RuntimeFault(NO_STATE_FOLDER, f"{path} has no bucket: {told}", _REACH)
    if any(kind in _UNKNOWN for kind in kinds):
        return RuntimeFault(
            PACKAGE_MISSING,
            f"Hadoop has no file system for {path}: {told}",
            "for s3a: pass --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with "
            "the version of\nthe Hadoop among Spark's jars; or put the jars on "
            "`spark.driver.extraClassPath`",
        )
    if any(kind in _DENIED for kind in kinds):
        return RuntimeFault(
            STORE_REFUSES,
            f"the store refuses {path}: {told}",
            "check the user, its ticket or its keys, and what they may do there",
        )
    if any(kind in _GONE for kind in kinds):
        return RuntimeFault(
            STORE_UNREACHABLE,
            f"the store of {path} does not answer: {told}",
            "check the address and the network; settings of Hadoop are passed as "
            "--conf spark.hadoop.NAME=VALUE",
        )
    return RuntimeFault(STATE_UNREADABLE, f"{path}: {kinds[0]}: {told}", None)


def _causes(thrown: Any) -> Any:
    """Each exception of a chain by its short name, with its message."""
    left = 20
    while thrown is not None and left:
        left -= 1
        message = thrown.getMessage()
        yield str(thrown.getClass().getSimpleName()), None if message is None else str(message)
        thrown = thrown.getCause()
