"""What a job's log says beside its steps' output: the job's full name, and every version that was installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_START = rb"^(?:\xef\xbb\xbf)?(?:[^\t\n]{1,300}\t[^\t\n]{0,300}\t)?(?:\xef\xbb\xbf)?(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}Z )?"
"""What may stand before a line's text: job and step (`gh run view --log`) and the time."""

_JOB = re.compile(_START + rb"Complete job name: ([^\r\n]{1,300})", re.M)
_NAME, _VERSION = rb"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", rb"[0-9][A-Za-z0-9.!+_-]{0,60}"
_PIP = re.compile(_START + rb"Successfully installed ([^\r\n]{1,20000})", re.M)
_PIP_ITEM = re.compile(rb"(" + _NAME + rb")-(" + _VERSION + rb")")
_LINES: Mapping[str, tuple[re.Pattern[bytes], ...]] = {
    "python": (
        re.compile(_START + rb" \+ (" + _NAME + rb")==(" + _VERSION + rb")\s*$", re.M),
        re.compile(_START + rb"  [-*\xe2\x80\xa2]+ Installing (" + _NAME + rb") \((" + _VERSION + rb")\)", re.M),
        re.compile(_START + rb"  \xe2\x9c\x94 Install (" + _NAME + rb") (" + _VERSION + rb") successful", re.M),
    ),
    "npm": (
        re.compile(
            _START + rb"(?:\xe2\x94\x9c|\xe2\x94\x94|\+|`)[\xe2\x94\x80\xac -]*"
            rb"((?:@[a-z0-9._-]{1,100}/)?[a-z0-9._-]{1,100})@(" + _VERSION + rb")",
            re.M,
        ),
    ),
}
"""uv, poetry and pdm as they list what they install; `npm ls`."""

_OWN = re.compile(rb"(?:Building editable|Created wheel|Preparing editable metadata) for (" + _NAME + rb")")
_SGR = re.compile(rb"\x1b\[[\d;]*m")


@dataclass(frozen=True, kw_only=True)
class Installed:
    """One package that the log shows being installed; `line` is 1-based, `index` "python" or "npm"."""

    index: str
    name: str
    version: str
    line: int


def job_name(log: bytes) -> str | None:
    """The job's name as GitHub shows it, matrix leg and calling workflows included; None where the log has none."""
    found = _JOB.search(log)
    return found[1].decode("utf-8", "replace").strip() if found else None


def installed(log: bytes) -> list[Installed]:
    """Every package installed, in the order printed; what was built from a folder of the runner itself is left out."""
    log = _SGR.sub(b"", log)
    own = {_plain(match[1]) for match in _OWN.finditer(log)}
    found = sorted(_found(log))
    starts = _line_numbers(log, [at for at, *_ in found])
    return [
        Installed(index=index, name=name.decode(), version=version.decode(), line=line)
        for (_, index, name, version), line in zip(found, starts, strict=True)
        if _plain(name) not in own
    ]


def _found(log: bytes) -> Iterator[tuple[int, str, bytes, bytes]]:
    for match in _PIP.finditer(log):
        for item in match[1].split():
            if pair := _PIP_ITEM.fullmatch(item):
                yield match.start(1), "python", pair[1], pair[2]
    for index, patterns in _LINES.items():
        for pattern in patterns:
            for match in pattern.finditer(log):
                yield match.start(1), index, match[1], match[2]


def _plain(name: bytes) -> bytes:
    return re.sub(rb"[-_.]+", b"-", name.lower())


def _line_numbers(log: bytes, offsets: list[int]) -> list[int]:
    numbers, line, last = [], 1, 0
    for at in offsets:
        line += log.count(b"\n", last, at)
        last = at
        numbers.append(line)
    return numbers
