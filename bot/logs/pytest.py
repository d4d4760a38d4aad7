"""pytest's terminal report, versions 3 to 9, as Failures."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.parser import COUNTED, MOST, MOST_IDS, Found
from bot.logs.paths import inside, relative
from bot.logs.pytest_crash import crashed
from bot.logs.pytest_ids import pair, split_entry
from bot.logs.pytest_report import Entry, Report, Section, Session
from bot.logs.pytest_words import told
from bot.logs.trace import Frame, Trace, oneline

_CONFTEST = re.compile(r"ImportError while loading conftest '(.+)'\.$")
_USAGE = re.compile(
    r"(?:ERROR: usage: |(?:py\.?test|__main__\.py)(?:\.py)?: error: |usage: (?:pytest|__main__\.py) \[)"
)
_ERROR = re.compile(r"ERROR: (file or directory not found|not found|found no collectors for|.+unrecognized arguments)")


class Pytest:
    """Push parser over a step's output; a step may run pytest several times (tox, nox, retries)."""

    starts: ClassVar[tuple[str, ...]] = (
        *("==", "__", "!!!!", "no tests ran", "ImportError while loading conftest", "ERROR: "),
        *("usage: ", "INTERNALERROR>", "Fatal Python error: ", "[gw"),
    )
    patterns: ClassVar[tuple[str, ...]] = (
        COUNTED,
        r"(?:\S*/)?(?:py\.?test|__main__)(?:\.py)?: error: ",
        r"[.FEsxX]*(?: *\[ *\d++%\]|Fatal Python error: )",
        r"-{3,}+ Captured ",
    )

    def __init__(self) -> None:
        self.holding = False
        self._done: list[Session] = []
        self._report = Report()
        self._conftest: tuple[str, Trace] | None = None
        self._usage: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        report = self._report
        if report.state not in ("idle", "done"):
            mine = report.feed(line)
            self.holding = report.state not in ("idle", "done")
            return mine
        if self._conftest_line(line):
            return True
        if report.state == "done" and self._begins(line):
            self._close()
        mine = self._report.feed(line)
        self.holding = self._report.state not in ("idle", "done")
        return mine or self._outside(line)

    def _begins(self, line: str) -> bool:
        """A further run begins after one that ended."""
        if line[:1] == "=":
            return " test session starts " in line or " FAILURES " in line or " ERRORS " in line
        return bool(re.match(r"[.FEsxX]+ +\[ *\d+%\]$", line))

    def _close(self) -> None:
        if len(self._done) < 50:
            self._done.append(self._report.session)
        self._report = Report()

    def _conftest_line(self, line: str) -> bool:
        found = _CONFTEST.match(line) if line.startswith("ImportError while") else None
        if found:
            self._conftest = (found.group(1), Trace())
            self.holding = True
            return True
        if self._conftest is None or self._report.state != "idle" or not self.holding:
            return False
        if line and (line[0] in " E>/<_" or re.match(r"\S+:\d+: ", line)):
            self._conftest[1].feed(line)
            return True
        self.holding = False
        return False

    def _outside(self, line: str) -> bool:
        """Lines of pytest outside of any report."""
        if line.startswith("INTERNALERROR>"):
            self._usage = self._usage or "internal error of pytest"
            return True
        if _USAGE.match(line) or _ERROR.match(line):
            if self._usage is None or "usage: " in self._usage:
                self._usage = line.strip()[:300]
            return True
        if self._report.state == "idle":
            if "Fatal Python error: " in line:
                self._report.session.crash_word = line[line.find("Fatal Python error: ") :].rstrip()
                self._report.state = "crash"
                self.holding = True
                return True
            if "%]" in line and re.match(r"[.FEsxX]+ +\[ *\d+%\]$", line):
                self._report.feed_dots(line)
                return True
        return False

    def found(self, exit_code: int | None) -> Found:
        """Every failure of every run, in order."""
        self._close()
        failures = [failure for session in self._done for failure in _failures(session, exit_code)]
        if self._conftest:
            failures.insert(0, _conftest_failure(*self._conftest))
        blocked = self._usage or next(
            (s.blocked or s.crash_word for s in self._done if s.blocked or s.crash_word), None
        )
        passed: set[str] = set()
        skipped: set[str] = set()
        for session in self._done:
            passed |= session.passed | _summary_ids(session)
            skipped |= session.skipped
        ran = any(s.counts is not None for s in self._done)
        empty = [s for s in self._done if s.counts is not None]
        if blocked is None and empty and all(_idle(s.counts or Counter()) for s in empty):
            blocked = "no tests ran"
        return Found(
            findings=tuple(failures[:MOST]),
            passed=frozenset(sorted(passed)[:MOST_IDS]) - {f.id for f in failures},
            skipped=frozenset(skipped),
            blocked=blocked,
            ended=ran,
            dropped=max(0, len(failures) - MOST) + sum(s.dropped for s in self._done),
        )


def _idle(counts: Counter[str]) -> bool:
    """The closing line counts no test that was run."""
    return not any(number for word, number in counts.items() if word not in ("deselected", "warning", "warnings"))


def _summary_ids(session: Session) -> set[str]:
    return {split_entry(entry.text)[0] for entry in session.entries if entry.status == "PASSED" and entry.part is None}


def _failures(session: Session, exit_code: int | None) -> list[Failure]:
    found: list[Failure] = []
    for kind in ("failed", "error"):
        rows = pair(session, kind)
        lines = _aligned(session, [row[2] for row in rows]) if kind == "failed" else {}
        for at, (test, section, entry) in enumerate(rows):
            found.append(_failure(session, kind, test, section, entry, lines.get(at)))
    crash = crashed(session, {failure.id for failure in found}, exit_code)
    return found + ([crash] if crash else [])


def _aligned(session: Session, entries: list[Entry | None]) -> dict[int, str]:
    """Which `--tb=line` line belongs to which failure: both come in the same order; the words confirm it.

    Version 9 prints the exception's text and captured output before each such line.
    """
    for lines in (session.oneliners, [line for line in session.oneliners if oneline(line)]):
        if len(lines) == len(entries):
            return dict(enumerate(lines))
    paired: dict[int, str] = {}
    at = 0
    for i, entry in enumerate(entries):
        message = split_entry(entry.text)[1] if entry else None
        hit = _next(session.oneliners, at, message) if message else None
        if hit is not None:
            paired[i], at = session.oneliners[hit], hit + 1
    return paired


def _next(lines: list[str], start: int, message: str) -> int | None:
    """Place of the next line that tells this message, one with a place in a file before others."""
    bare = None
    message = message.removesuffix("...")
    for at in range(start, min(len(lines), start + 200)):
        parsed = oneline(lines[at])
        if parsed and parsed[1].startswith(message):
            return at
        if bare is None and lines[at].startswith(message):
            bare = at
    return bare


def _failure(
    session: Session, kind: str, test: str, section: Section | None, entry: Entry | None, line: str | None
) -> Failure:
    test = relative(test, session.root) if test.startswith(("/", "./")) else test
    file = test.split("::", 1)[0].replace("\\", "/")
    failure = Failure(
        tool="pytest",
        id=test,
        kind=FailureKind.FAILED if kind == "failed" else FailureKind.ERROR,
        file=file,
        collection=section is not None and section.title.startswith("ERROR collecting"),
    )
    if section is not None and section.doctest:
        return _doctested(failure, section)
    trace = section.trace if section is not None else Trace()
    said = split_entry(entry.text)[1] if entry else None
    return _told(failure, session, trace, (said, entry.more if entry else []), line, section)


def _told(
    failure: Failure,
    session: Session,
    trace: Trace,
    said: tuple[str | None, list[str]],
    line: str | None,
    section: Section | None,
) -> Failure:
    """Fill in the words and the places, from the traceback first, then from the `--tb=line` line and the summary."""
    words = trace.exception()
    frames = [_relative(frame, session.root) for frame in trace.frames]
    if words[0] is None and line:
        parsed = oneline(line)
        frames = [_relative(parsed[0], session.root)] if parsed else frames
        words = (parsed[1] if parsed else line, [])
    if said[0] is None:
        said = (trace.seen_text, [])
    filled = told(failure, frames, words, said)
    captured = "\n".join(section.captured).strip() if section else ""
    return replace(filled, captured=captured or None)


def _relative(frame: Frame, root: str | None) -> Frame:
    return replace(frame, file=relative(frame.file, root))


def _doctested(failure: Failure, section: Section) -> Failure:
    """A failing example: `Expected:` and `Got:` blocks, or the exception it raised; its place on the last line."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    place: Frame | None = None
    example: str | None = None
    for line in section.doctest:
        if line.rstrip() in ("Expected:", "Got:", "Expected nothing"):
            current = blocks.setdefault(line.rstrip(" :"), [])
        elif line.startswith("UNEXPECTED EXCEPTION: "):
            blocks["raised"] = [line.removeprefix("UNEXPECTED EXCEPTION: ")]
            current = None
        elif found := re.match(r"(\S.*):(\d{1,9}): (\w+)$", line):
            place = Frame(relative(found.group(1)), int(found.group(2)))
        elif current is not None and line.startswith("    "):
            current.append(line[4:])
        elif current is None and (found := re.match(r"\d{3,} +(>>> .+)", line)):
            example = found.group(1)
    raised = blocks.get("raised", [None])[0]
    return replace(
        failure,
        line=place.line if place else None,
        crash=Location(file=place.file, line=place.line) if place and inside(place.file) else None,
        source=example,
        assertion=raised,
        message=raised,
        expected="\n".join(blocks["Expected"]) if "Expected" in blocks else None,
        actual="\n".join(blocks["Got"]) if "Got" in blocks else None,
        captured="\n".join(section.captured).strip() or None,
    )


def _conftest_failure(path: str, trace: Trace) -> Failure:
    file = relative(path)
    failure = Failure(tool="pytest", id=file, kind=FailureKind.ERROR, file=file, collection=True)
    return _told(failure, Session(), trace, (None, []), None, None)
