"""What holds for every log, whatever its bytes: nothing raises, everything is bounded, and it can be printed."""

from __future__ import annotations

import json
import time
import traceback

from bot import packets
from bot.domain.findings import Check, CheckKind, Diagnostic, Failure, FailureKind, JobLog
from bot.domain.fitness import Evaluation
from bot.logs import as_schema, read_job, read_output
from bot.logs.parser import MOST, MOST_IDS
from bot.report import jobs

CHECK = Check(name="check", kind=CheckKind.CUSTOM, command="make")
SOURCE = b"def f(x):\n    return x + 1\n\n\nclass C:\n    def test_a(self):\n        assert f(1) == 3\n" * 20
FILES = frozenset(("a.py", "src/a.py", "tests/test_a.py", "tests/unit/test_money.py", "pkg/mod.py"))
LONGEST = 100_000
"""Characters of any one text in a finding."""


def check(log: bytes) -> float:
    """Processor seconds that reading took. Raises whatever it raises, and AssertionError where a promise is broken."""
    began = time.process_time()
    job = read_job([log])
    seconds = time.process_time() - began
    bounded(job)
    as_schema_is_json(job)
    jobs([job])
    report = read_output(log, check=CHECK, exit_code=1, events=log)
    assert len(report.findings) <= 2 * MOST
    packet(job)
    size = 1 + len(log) % 5000
    assert read_job(log[at : at + size] for at in range(0, len(log), size)) == job, "chunks matter"
    if len(log) < 50_000:
        assert read_job(line + b"\n" for line in log.split(b"\n")) == read_job([log + b"\n"]), "blocks matter"
    return seconds


def bounded(job: JobLog) -> None:
    """Caps hold, and every field has its type."""
    assert len(job.steps) <= 501
    for step in job.steps:
        if step.report is None:
            continue
        assert len(step.report.findings) <= MOST
        for ids in (step.report.passed, step.report.skipped, step.report.collected):
            assert len(ids) <= MOST_IDS and all(isinstance(name, str) for name in ids)
        for finding in step.report.findings:
            failure(finding) if isinstance(finding, Failure) else diagnostic(finding)


def failure(found: Failure) -> None:
    """The types and bounds of a failure's fields."""
    assert isinstance(found.kind, FailureKind) and found.id.strip()
    texts = (found.id, found.tool, found.file, found.exception, found.source, found.assertion, found.message)
    _texts(*texts, found.expected, found.actual, found.detail, found.captured)
    _number(found.line)
    assert len(found.frames) <= 100
    for place in (*found.frames, *([found.crash] if found.crash else [])):
        _texts(place.file, place.name)
        _number(place.line)


def diagnostic(found: Diagnostic) -> None:
    """The types and bounds of a diagnostic's fields."""
    assert isinstance(found.file, str) and (found.file.strip() or not found.file)  # "": about no file, but a setting
    _texts(found.tool, found.file, found.code, found.message, found.severity)
    _number(found.line)
    _number(found.col)


def _texts(*texts: str | None) -> None:
    for text in texts:
        assert text is None or (isinstance(text, str) and len(text) <= LONGEST), repr(text)[:200]


def _number(number: int | None) -> None:
    assert number is None or (isinstance(number, int) and not isinstance(number, bool) and number >= 0), number


def as_schema_is_json(job: JobLog) -> None:
    """What `selfrepair parse --json` prints is JSON that any reader takes, surrogates and infinities left out."""
    text = json.dumps(as_schema(job), ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode("utf-8"))["schema"] == 1


def packet(job: JobLog) -> None:
    """A packet fits its budget."""
    reports = tuple(step.report for step in job.steps if step.report)
    made = packets.build(
        Evaluation(reports=reports),
        iteration=1,
        max_iterations=5,
        read=lambda path: SOURCE if path in FILES else None,
        paths=FILES,
    )
    assert packets.tokens(json.dumps(made.as_json(), ensure_ascii=False)) <= 2000


def slow(size: int) -> float:
    """Processor seconds that a log of this size may take: some twenty times of what an ordinary one takes."""
    return 0.2 + size * 2e-6


def shrunk(log: bytes) -> bytes:
    """A log with the same fault and as few lines as halving finds."""
    wanted = _fault(log)
    lines = log.split(b"\n")
    step = len(lines) // 2
    began = time.monotonic()
    while step and time.monotonic() - began < 120:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + step :]
            if _fault(b"\n".join(fewer)) == wanted:
                lines = fewer
            else:
                at += step
        step //= 2
    return b"\n".join(lines)


def _fault(log: bytes) -> tuple[str, str, int | None] | None:
    try:
        check(log)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return type(error).__name__, last.filename, last.lineno
    return None
