"""What is secret: a value by the name of its setting, a part of a text by its form.

One list serves the compiler, which rejects a literal secret in a spec, and everything that prints
or writes, which redacts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from .plain import is_switch_or_amount

_ENDS = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "sharedkey",
    "accountkey",
    "keypass",
    "dbpass",
    "userinfo",
    "signature",
)
"""A word of a name with such an ending makes its value a secret."""

_WORDS = frozenset({"pass", "sas", "sig", "jaas", "authorization", "cookie", "bearer"})
"""Whole words that do so."""

_PHRASES = (
    "access key",
    "account key",
    "api key",
    "auth key",
    "encryption key",
    "key list",
    "keystore key",
    "license key",
    "master key",
    "private key",
    "secret key",
    "shared key",
    "signing key",
    "storage key",
    "user info",
    "connection string",
)
"""Pairs of adjacent words that do so."""

_ABOUT = frozenset(
    "algorithm algorithms audience class classes column enabled endpoint expiry field file "
    "filename format header interval issuer length location mechanism mechanisms minutes ms path "
    "protocol provider providers ratio regex retries scope seconds size source timeout ttl type "
    "uri url version".split()
)
"""A last word that describes a secret, or its location, and not the secret itself."""

SPARK_PATTERN = "(?i)" + "|".join(
    (*_ENDS, *(phrase.replace(" ", "[._-]?") for phrase in _PHRASES), "jaas", "[.]sas[.]")
)
"""The same names as an expression for Spark, which hides the values of such settings."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")

_NAME = r"[A-Za-z_%][\w.%+-]{0,200}"
_ASSIGNED = re.compile(
    rf"""(["']?)(?<![\w.%+-])-{{0,2}}(?P<name>{_NAME})\1(?:\s{{0,9}}=|(?<=["'])\s{{0,9}}:)\s{{0,9}}"""
)
"""``name = …`` of connection strings, URLs and JAAS; ``"name": …`` of JSON and of Python."""

_VALUE = re.compile(
    r"""(?x)
    (?:\$\{[^{}]*\})+(?=[\s;,&"')\]}]|\Z)
    | "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.|'')*'?
    | [^\s&"'<>|]+
    """
)
_TYPE = re.compile(
    r"(?:BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|STRING|BINARY|DATE|TIMESTAMP|VARIANT|NULL|"
    r"null|true|false|DECIMAL\(|ARRAY<|MAP<|STRUCT<|INTERVAL ).*",
    re.DOTALL,
)
"""What follows the name of a column or a switch that is named like a secret."""

_SLASHES = re.compile(r"//(?=([^\s\"'<>`]{0,999}))")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:\Z")
_LOOSE = re.compile(
    r"(?<![\w/@.:+%~{-])(?!mailto:)[A-Za-z][\w.+%~-]*:(?:[\w.+%~-]+:)?"
    r"(?P<secret>[^\s:/@\"'`]+)@(?=[\w\[])"
)
"""``user:secret@host`` of a URL whose beginning is missing or misspelt."""

_FORMS = re.compile(
    r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}"
    r"|\b[sr]k_live_\w{10,}|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"
    r"|(?i:\b(?:bearer|basic)\s+)(?P<bearer>[\w+/=.~-]{8,})"
)
"""What is a secret wherever it appears."""

_KEY_SCHEMES = ("s3:", "s3a:", "s3n:")
"""Schemes whose user is a secret as well."""

_WITHOUT_PASSWORD = re.compile(r"\b(?:Krb5LoginModule|IAMLoginModule)\b")
"""Login modules that take no secret as an option: they look it up themselves."""

_HOLE = re.compile(r"\$\{[^{}]*\}")
MASK = "***"


def is_secret_name(name: str) -> bool:
    """Return whether a value set under a name is a secret.

    >>> [is_secret_name(n) for n in ("sslpassword", "spark.hadoop.fs.s3a.secret.key", "%70assword")]
    [True, True, True]
    >>> [is_secret_name(n) for n in ("ssl.keystore.location", "key", "basic.auth.user.info")]
    [False, False, True]
    """
    return _weight(name) > 0


def _weight(name: str) -> int:
    """Return 2 for a name that ends in a secret, 1 for one that contains one, 0 for others."""
    words = [word.lower() for word in _WORD.findall(unquote_plus(name))]
    if not words or words[-1] in _ABOUT:
        return 0
    if _is_secret(words[-1]) or " ".join(words[-2:]) in _PHRASES or "jaas" in words:
        return 2
    if words[-1] in ("id", "ids") and "secret" not in words and "access" not in words:
        return 0
    text = f" {' '.join(words)} "
    inside = any(map(_is_secret, words)) or any(f" {phrase} " in text for phrase in _PHRASES)
    return 1 if inside else 0


def _is_secret(word: str) -> bool:
    return word in _WORDS or word.endswith(_ENDS)


def secret_parts(text: str) -> list[tuple[int, int]]:
    """Return where the secrets of a text are, in order and without overlaps.

    >>> text = "postgresql://u:hunter2@db/x?sslpassword=abc"
    >>> [text[a:b] for a, b in secret_parts(text)]
    ['hunter2', 'abc']
    """
    found = sorted({*_by_form(text), *_by_name(text), *_in_urls(text)})
    apart: list[tuple[int, int]] = []
    for start, end in found:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        elif end > start:
            apart.append((start, end))
    return apart


def _by_form(text: str) -> Iterator[tuple[int, int]]:
    for found in _FORMS.finditer(text):
        yield found.span("bearer") if found["bearer"] else found.span()


def _by_name(text: str) -> Iterator[tuple[int, int]]:
    if "=" not in text and ":" not in text:
        return
    position = 0
    while (found := _ASSIGNED.search(text, position)) is not None:
        position = found.end()
        value = _VALUE.match(text, position) if is_secret_name(found["name"]) else None
        if value is None:
            continue
        position = value.end()
        start, end = value.span()
        if text[start] in "\"'":
            closed = end - start > 1 and text[end - 1] == text[start]
            start, end = start + 1, end - closed
        else:
            end -= len(value[0]) - len(value[0].rstrip(";,"))
        if _TYPE.fullmatch(text, start, end) is None:
            yield start, end


def has_user_secret(url: str) -> bool:
    """Return whether a URL has a password or a key before its host.

    >>> has_user_secret("s3a://key:secret@bucket/in"), has_user_secret("s3a://bucket/token=1")
    (True, False)
    """
    return "//" in url and any(True for _ in _in_urls(url))


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    # # A reference may have any value; a digit represents it.
    text = _HOLE.sub(lambda hole: "0" * len(hole[0]), text)
    for found in _SLASHES.finditer(text):
        before = _SCHEME.search(text, max(found.start() - 40, 0), found.start())
        scheme, rest, start = before[0].lower() if before else "", found[1], found.end()
        info = _user_info(rest)
        if info is None:
            continue
        user, colon, _ = rest[:info].partition(":")
        if scheme in _KEY_SCHEMES and colon:
            yield start, start + info
        elif colon:
            yield start + len(user) + 1, start + info
        elif scheme in ("http:", "https:"):
            yield start, start + info
    for found in _LOOSE.finditer(text):
        yield found.span("secret")


def _user_info(rest: str) -> int | None:
    """Return where the user and password of a URL end, after its ``//``; None without any.

    A password that is not escaped may contain ``/``, ``?``, ``#`` and ``@``.
    """
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        return authority.rindex("@")
    _, colon, port = authority.partition(":")
    if not colon or not port or re.fullmatch(r"[\d,:.\w-]*\d|\[.*", port):
        return None
    return rest.rindex("@") if "@" in rest else None


def written_secret(name: str, value: str) -> str | None:
    """Return the secret that a value contains literally under a name, None if it has none.

    ``${…}`` stands for a value from elsewhere.

    >>> written_secret("url", "postgresql://u:${env:DB}@h"), written_secret("password", "x")
    (None, 'x')
    """
    parts = [value[start:end] for start, end in secret_parts(value)]
    for part in parts:
        if _spelt(part).strip(":"):
            return part
    weight = _weight(name)
    if weight == 0 or (weight == 1 and is_switch_or_amount(value)):
        return None
    if parts or not _spelt(value):
        return None
    if "jaas" in name.lower() and (_HOLE.search(value) or _WITHOUT_PASSWORD.search(value)):
        return None
    if _HOLE.search(value) and re.fullmatch(r"(?i)[^:\s]*:|(?:bearer|basic)\s+", _spelt(value)):
        # # The user before a password, the type of a token.
        return None
    return value


def referring(name: str, value: str) -> list[str]:
    """Return the content of the ``${…}`` of a value from which its secrets come."""
    if _weight(name):
        return [hole[2:-1] for hole in _HOLE.findall(value)]
    parts = [value[start:end] for start, end in secret_parts(value)]
    return [hole[2:-1] for part in parts for hole in _HOLE.findall(part)]


def _spelt(text: str) -> str:
    return _HOLE.sub("", text)
