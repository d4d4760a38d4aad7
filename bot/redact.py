"""Secrets and hidden text are taken out before a model, a trail, a comment or a log sees them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

T = TypeVar("T")

MARK = "[redacted]"

SECRETS = (
    "INPUT_ANTHROPIC-API-KEY",
    "INPUT_GITHUB-TOKEN",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
)
"""Variables whose values must never be written anywhere."""

SHORTEST = 6
"""Known values with fewer characters are left alone: removing every "main" or "test" would destroy the text."""

_KEY_BODY = 20_000
"""No private key in use is longer; bounds the search behind a hostile flood of key headers."""

# (what must occur for the pattern to be worth trying, pattern). Shapes as their issuers publish them; a pattern's
# "keep" groups stay in the text. Installation tokens of GitHub come as 40 characters and, since 2026, as
# ghs_APPID_JWT of about 520 with two dots (docs.github.com, "Generating an installation access token").
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("gh", re.compile(r"\bgh[opsur]_[A-Za-z0-9._-]{36,2000}(?<=[A-Za-z0-9_-])")),
    ("github_pat_", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{40,255}")),
    ("sk-ant-", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{16,}")),
    ("sk-", re.compile(r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{40,})")),
    ("A", re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")),
    ("ecret", re.compile(r"(?i)(?P<keep>aws_?secret_?access_?key[\"']?\s{0,3}[=:]\s{0,3}[\"']?)[A-Za-z0-9/+=]{40}\b")),
    ("eyJ", re.compile(r"(?<![A-Za-z0-9_])eyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}")),
    ("npm_", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("_auth", re.compile(r"(?P<keep>_(?:authToken|auth|password)\s?=\s?[\"']?)[A-Za-z0-9+/=_-]{12,}")),
    ("pypi-", re.compile(r"\bpypi-A[A-Za-z0-9_-]{50,}")),
    ("glpat-", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("hf_", re.compile(r"\bhf_[A-Za-z0-9]{34,}\b")),
    ("xox", re.compile(r"\bxox[abeoprs]-[0-9][A-Za-z0-9-]{20,}")),
    ("AIza", re.compile(r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
    ("k_live_", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{16,}")),
    ("dckr_pat_", re.compile(r"\bdckr_pat_[A-Za-z0-9_-]{20,}")),
    # A password in a URL. Not `***`, which GitHub put there, and not a template such as {user}:{password}.
    ("://", re.compile(r"(?<=://)[^\s/:@\"'`<>{}$()%]{0,200}:(?!\*{3}@)[^\s/@\"'`<>{}$()]{1,500}(?=@[\w\[])")),
    ("://", re.compile(r"(?<=://)[A-Za-z0-9_-]{20,500}(?=@[\w\[])")),
)

_HEADERS = ("authorization", "x-api-key", "private-token", "x-auth-token")

# The value must look random (a letter and a digit, 16 characters): `Authorization: auth_header` is ordinary code.
_HEADER = re.compile(
    rf"(?i)(?P<keep>\b(?:{'|'.join(_HEADERS)})[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?"
    r"(?:(?P<scheme>bearer|token|basic|digest|apikey)\s{1,3})?)"
    r"(?P<value>[A-Za-z0-9._~+/=-]{8,})"
)
_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_NO_KEY = re.compile(r"[^\sA-Za-z0-9+/=\\\"',:.|>-]")
_KEY_LINES = re.compile(r"(?:(?:\s|\\n){1,4}[A-Za-z0-9+/=]{40,80})+")


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """The values to redact, of SECRETS."""
    return [environ[name] for name in SECRETS if environ.get(name)]


class Redactor:
    """Replaces secrets by `[redacted]`: the given values in every usual encoding, and the shapes of known tokens.

    High precision: git hashes, digests, ids and ordinary code stay, and so does the `***` that GitHub puts itself.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        """The text without secrets; whatever is not part of one stays as it was."""
        if self._known is not None:
            text = self._known.sub(MARK, text)
        text = _without_keys(text)
        for marker, shape in _SHAPES:
            if marker in text:
                text = shape.sub(_kept, text)
        lowered = text.lower()
        return _HEADER.sub(_header, text) if any(name in lowered for name in _HEADERS) else text

    def data(self, data: bytes) -> bytes:
        """The same for bytes of any encoding that extends ASCII; bytes that are not UTF-8 come out as they were."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def inside(self, value: T) -> T:
        """The same for every text within a value of our own types; bytes and the keys of mappings stay as they are.

        Attack: a text that is cut, wrapped or escaped for Markdown holds a secret in a form that nobody looks for: it
        must be cleaned before it is written into anything.
        """
        return cast(T, self._inside(value, {}))

    def _inside(self, value: Any, seen: dict[str, str]) -> Any:
        if isinstance(value, Enum):
            return value
        if isinstance(value, str):
            if value not in seen:
                seen[value] = self.text(value)
            return seen[value]
        if is_dataclass(value) and not isinstance(value, type):
            return replace(
                value, **{f.name: self._inside(getattr(value, f.name), seen) for f in fields(value) if f.init}
            )
        if isinstance(value, tuple | list | frozenset):
            return type(value)(self._inside(item, seen) for item in value)
        if isinstance(value, Mapping):
            return {key: self._inside(item, seen) for key, item in value.items()}
        return value


def _forms(secret: str) -> set[str]:
    """How a value can stand in a text: raw, line by line, JSON, hex, percent-encoded, inside any base64."""
    lines = [secret.strip(), *(line.strip() for line in secret.splitlines())]
    found: set[str] = set()
    for value in {line for line in lines if len(line) >= SHORTEST}:
        raw = value.encode("utf-8", "surrogateescape")
        percent = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
        found |= {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], raw.hex()}
        found |= percent | {re.sub(r"%[0-9A-F]{2}", lambda m: m[0].lower(), form) for form in percent}
        found |= {form for form in _in_base64(raw) if len(form) >= 8}
    return found


def _in_base64(raw: bytes) -> set[str]:
    """The characters that `raw` fixes within a base64 text, for each of the three ways it can be aligned there."""
    cores = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        start = (0, 2, 3)[before]
        end = len(encoded) - ((before + len(raw)) % 3 != 0)
        cores |= {encoded[start:end], encoded[start:end].replace("+", "-").replace("/", "_")}
    whole = base64.b64encode(raw).decode()
    return cores | {whole, base64.urlsafe_b64encode(raw).decode(), whole.rstrip("=")}


def _kept(match: re.Match[str]) -> str:
    return (match.groupdict().get("keep") or "") + MARK


def _header(match: re.Match[str]) -> str:
    value = match["value"]
    secret = _basic(value) if (match["scheme"] or "").lower() == "basic" else _random(value)
    return match["keep"] + MARK if secret else match[0]


def _random(value: str) -> bool:
    return len(value) >= 16 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _basic(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False


def _without_keys(text: str) -> str:
    """Private key blocks out, cut-off ones too; code that only names the header and the footer stays."""
    begins = list(_KEY.finditer(text)) if "PRIVATE KEY" in text else []
    limits = [*(begin.start() for begin in begins), len(text)][1:]  # no key contains another one's header
    parts, at = [], 0
    for begin, limit in zip(begins, limits, strict=True):
        end = _key_end(text, begin.end(), min(limit, begin.end() + _KEY_BODY))
        if end is not None:
            parts += [text[at : begin.start()], MARK]
            at = end
    return "".join(parts) + text[at:]


def _key_end(text: str, start: int, limit: int) -> int | None:
    stop = _KEY_END.search(text, start, limit)
    if stop and stop.start() - start >= 40 and not _NO_KEY.search(text, start, stop.start()):
        return stop.end()
    cut_off = _KEY_LINES.match(text, start, limit)
    return cut_off.end() if cut_off else None


# Escape sequences (ECMA-48 CSI; OSC, DCS, SOS, PM, APC up to their terminator; the other two-byte ones) only paint.
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)

# Unicode category Cf (zero-width, bidi controls, soft hyphen, tag characters, ...), controls but for tab and newline,
# line and paragraph separators, lone surrogates, blank-looking letters, and variation selectors that no emoji needs.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Text as a person would have to see it: colour and cursor tricks dropped, hidden characters as `<U+202E>`.

    CRLF and lone carriage returns become line ends, so that nothing is overwritten on a terminal.
    """
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
