"""Logs that no tool ever wrote, made from logs that tools did write: the same seed and number give the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"

MOST = 400_000
"""Bytes of one mutated log."""

STAMP = b"2026-02-02T13:43:07.0001317Z "
BREAKS = ("\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r", "\r\n", "\n", "\n\n")
PIECES = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
        b"\t",
        b"\x08",
    ),
    *(
        b"\x1b[",
        b"\x1b[31m",
        b"\x1b[0m",
        b"\x1b[2K\r",
        b"\x1b]8;;x\x07",
        b"\x1b]0;",
        b"\x1b[1A",
        b"\x1b[36;1m",
        b"[0m",
        b"[31m",
    ),
    *(
        b"##[group]",
        b"##[group]Run pytest",
        b"##[endgroup]",
        b"##[error]",
        b"##[warning]",
        b"##[command]",
        b"##[debug]",
    ),
    *(
        b"##[error]Process completed with exit code 1.",
        b"Error: Process completed with exit code 2.",
        b"shell: /bin/bash -e {0}",
    ),
    *(
        b"Cleaning up orphan processes",
        b"::error file=a.py,line=3::x",
        b"::group::Run pytest",
        b"::endgroup::",
        b"with:",
        b"env:",
    ),
    *(
        STAMP,
        b"job\tstep\t" + STAMP,
        b"2026-02-02T13:43:07Z ",
        b"web-1  | ",
        b"pkg:test: ",
        b"[gw0] ",
        b"> ",
        b"E   ",
        b"    ",
    ),
    *(b"=" * 80, b"_" * 80, b"-" * 70, b"*" * 70, b"=" * 27 + b" test session starts " + b"=" * 28),
    *(
        b"=" * 35 + b" FAILURES " + b"=" * 35,
        b"=" * 26 + b" short test summary info " + b"=" * 27,
        b"=" * 20 + b" 1 failed in 0.1s " + b"=" * 20,
    ),
    *(
        b"Traceback (most recent call last):",
        b'  File "a.py", line 3, in f',
        b"FAILED a.py::t - x",
        b"--- FAIL: TestX (0.00s)",
        b"not ok 1 - x",
    ),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b'{"',
        b'":',
        b'"',
        b"'",
        b"\\",
        b"<testsuites>",
        b"<testcase",
        b"</testsuite>",
        b"]]>",
        b"<!--",
    ),
    *(
        b"a.py:1:1: E1 x",
        b"a.py:1: error: x  [y]",
        b"1 error",
        b"99999999999999999999",
        b"-1",
        b"0",
        b"::",
        b" - ",
        b"%25",
        b"%0A",
    ),
)
"""What confuses readers of logs: broken text, terminal codes, the runner's own marks, beginnings of reports."""

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def corpus() -> list[bytes]:
    """Every log under tests/corpus, in a fixed order."""
    return [path.read_bytes() for path in sorted(CORPUS.glob("*/*.log"))]


def mutant(logs: Sequence[bytes], seed: int, number: int) -> bytes:
    """The log that this seed and number stand for, of at most MOST bytes."""
    rng = random.Random(f"{seed}:{number}")
    log = rng.choice(logs)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        log = rng.choice(MUTATIONS)(rng, log, logs)[:MOST]
    return log


def _span(rng: random.Random, size: int) -> tuple[int, int]:
    """A random stretch, mostly a short one."""
    start = rng.randrange(size + 1)
    return start, min(size, start + int(rng.expovariate(1) * rng.choice((1, 10, size / 10 + 1))))


def _cut(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    start, end = _span(rng, len(log))
    return rng.choice((log[:start], log[start:], log[:start] + log[end:]))


def _flip(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    data = bytearray(log)
    for _ in range(rng.choice((1, 5, 50, len(log) // 50 + 1))):
        if data:
            data[rng.randrange(len(data))] = rng.choice((rng.randrange(256), 10, 32, 58, 91))
    return bytes(data)


def _splice(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    other = rng.choice(logs)
    return log[: rng.randrange(len(log) + 1)] + other[rng.randrange(len(other) + 1) :]


def _piece(rng: random.Random) -> bytes:
    piece = rng.choice((*PIECES, *(text.encode() for text in BREAKS)))
    return piece * rng.choice((1, 1, 1, 3, rng.randrange(1, 200)))


def _insert(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randrange(len(log) + 1)
        if rng.random() < 0.6:
            at = log.find(b"\n", at) + 1
        log = log[:at] + _piece(rng) + rng.choice((b"", b"\n", b" x\n")) + log[at:]
    return log


def _huge(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    """One line, or many, of something that is cheap to write and may be dear to read."""
    start, end = _span(rng, len(log))
    unit = rng.choice((_piece(rng), log[start:end][:200], log[start:end].replace(b"\n", b" ")[:200])) or b"x"
    at = log.find(b"\n", rng.randrange(len(log) + 1)) + 1
    return log[:at] + rng.choice((b"", STAMP)) + unit * (rng.choice((5_000, 50_000, 200_000)) // len(unit)) + log[at:]


def _lines(change: Callable[[random.Random, list[bytes], Sequence[bytes]], list[bytes]]) -> Mutation:
    def mutation(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
        return b"\n".join(change(rng, log.split(b"\n"), logs))

    return mutation


def _drop(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    share = rng.choice((0.01, 0.1, 0.5))
    return [line for line in lines if rng.random() > share]


def _double(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    start, end = _span(rng, len(lines))
    return lines[:end] + lines[start:end] * rng.choice((1, 1, 3, 100)) + lines[end:]


def _shuffle(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    start, end = _span(rng, len(lines))
    window = lines[start:end]
    rng.shuffle(window)
    return lines[:start] + window + lines[end:]


def _weave(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    """Two outputs at once."""
    other = rng.choice(logs).split(b"\n")
    woven: list[bytes] = []
    while lines or other:
        source = lines if rng.random() < 0.5 else other
        count = rng.randrange(1, 6)
        woven += source[:count]
        del source[:count]
    return woven


def _prefix(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    """A log inside of a log."""
    start, end = _span(rng, len(lines))
    piece = _piece(rng)
    return lines[:start] + [piece + line for line in lines[start:end]] + lines[end:]


def _strip(rng: random.Random, lines: list[bytes], logs: Sequence[bytes]) -> list[bytes]:
    """Without timestamps, or without as many characters."""
    size = rng.choice((29, 29, 1, 10, 40))
    return [line[size:] for line in lines]


def _rewrite(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    old, new = rng.choice(
        (
            (rb"\n", b"\r\n"),
            (rb"\n", b"\r"),
            (rb"\d+", b"0"),
            (rb"\d+", b"9" * 30),
            (rb"(?m)Z ", b"Z"),
            (rb"[A-Za-z]", b"x"),
            (rb"\.py", b""),
            (rb": ", b":"),
            (rb"\x1b", b""),
            (rb" {2,}", b" "),
            (rb"=+", b"="),
            (rb"(?m)^\S+ ", b""),
        )
    )
    return re.sub(old, new, log)


def _retype(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    """Values of JSON and attributes of XML of another type than anybody expects."""
    values = (b"null", b"-1", b"1e999", b"9" * 5000, b"[]", b"{}", b'""', b"[[[[", b'{"a": 1}', b'"\\ud800"', b"true")
    share = rng.choice((0.02, 0.2, 1))
    value = rng.choice(values)

    def other(found: re.Match[bytes]) -> bytes:
        return found[1] + (value if rng.random() < share else found[2])

    pattern = rng.choice((rb'(": ?)("[^"\n]*"|-?\d+|null|true|false)', rb'(=)("[^"\n]*")', rb"([:( ])(\d+)"))
    return re.sub(pattern, other, log)


def _swap(rng: random.Random, log: bytes, logs: Sequence[bytes]) -> bytes:
    """Words of another log in place of some of this one's."""
    words = re.findall(rb"\S+", rng.choice(logs)[:20_000]) or [b"x"]
    share = rng.choice((0.005, 0.05, 0.3))
    return re.sub(rb"\S+", lambda found: rng.choice(words) if rng.random() < share else found[0], log)


MUTATIONS: tuple[Mutation, ...] = (
    *(_cut, _flip, _splice, _insert, _insert, _huge, _rewrite, _retype, _swap),
    *map(_lines, (_drop, _double, _shuffle, _weave, _prefix, _strip)),
)
