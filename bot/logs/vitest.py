"""vitest's reports, versions 0.34 to 4: default, basic, verbose, tree, dot, minimal, beside github-actions or alone.

Layout: vitest's `reporters/{base,default,verbose,tree}` and `node/error.ts`. Failures are told after a banner
`⎯⎯ Failed Tests 2 ⎯⎯`, each ` FAIL  file > suite > test` with its error below; an error that several tests share is
printed once, below all their names. What tests print stands before the banner, so it cannot pass for a failure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind
from bot.logs.js import LONGEST, MOST_LINES, detail_of, kind_of, once, placed, row_pair, taken_apart
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import relative

_RUN = re.compile(r" ?(?:RUN|DEV) +v(?P<major>\d{1,3})\.\d+\.\S+(?: |$)")
_BANNER = re.compile(r"⎯+ +(?P<what>Failed Suites|Failed Tests|Failed Typecheck|Unhandled \w+|Startup Error)\b.* ⎯+$")
_RULE = re.compile(r"⎯{4,}(?:\[\d+/\d+\]⎯+)?$")
_FAIL = re.compile(r" FAIL +(?P<name>\S.*)$")
_PROJECT = re.compile(r"\|(?P<project>[^|]+)\| +")
_WHOLE = re.compile(r" \[ (?P<file>.+) \]$")
_PLACE = re.compile(r"(?P<file>.+?\.\w{1,8}):\d+(?::\d+)?$")
_FILE = re.compile(
    r" (?P<mark>[✓✔❯×↓√>]) (?P<name>\S.*?)(?<! ) ++\(\d+ tests?(?: \| \d+ \w+)*\)"
    r"(?: \(?[\d.]+ ?m?s\)?)?(?: \d+ MB heap used)?$"
)
_ROW = re.compile(r"(?P<indent> +)(?P<mark>[✓✔×❯↓□√]) (?P<title>\S.*)$")
_SUITE = re.compile(r"(?P<title>.*) \(\d+\)$")
_TIMES = re.compile(r" \((?:retry|repeat) x\d+\)| \d+ MB heap used")
_DURATION = re.compile(r" (?P<ms>\d+)ms$")
_TESTS = re.compile(r" +Tests  (?P<rest>\d.*\(\d+\)|no tests)$")
_FAILED = re.compile(r"(\d{1,9}) failed")
_END = re.compile(r" +Duration  [\d.]+m?s")
_SHELL = re.compile(r"npm (?:ERR!|error)|[\s>]*ELIFECYCLE|error Command failed|> \S+@\S+ \S+$|error: script ")
_PRINTED = re.compile(r"(?:stdout|stderr) \| \S")
_NO_FILES = "No test files found, exiting with code 1"
_EXPECTED = re.compile(r"(?:- )?Expected:(?: +(?P<value>\S.*)| *)$")
_RECEIVED = re.compile(r"(?:\+ )?Received:(?: +(?P<value>\S.*)| *)$")
_STACK = re.compile(r" ❯ | +(?:\d+)?\|| *(?:Caused by|Serialized Error|\[cause\]): ")
_LEGEND = re.compile(r"[-+] (?:Expected|Received)(?: +[-+] \d+)?$")


@dataclass(kw_only=True)
class _Report:
    """One error, and the names of the tests that it is told for."""

    names: list[str] = field(default_factory=list)
    whole: bool = False
    lines: list[str] = field(default_factory=list)


class Vitest:
    """Push parser; a step may run vitest several times."""

    starts: ClassVar[tuple[str, ...]] = (" RUN ", "RUN ", " DEV ", "⎯⎯", _NO_FILES)
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._findings: list[Failure] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._files: set[str] = set()
        self._dropped = 0
        self._blocked: str | None = None
        self._ended = False
        self._begin(1)

    def _begin(self, major: int) -> None:
        """A run begins."""
        self._major = major
        self._section: str | None = None
        self._report: _Report | None = None
        self._reported: list[Failure] = []
        self._unhandled: list[str] = []
        self._rows: Counter[tuple[str | None, str]] = Counter()
        self._order: list[tuple[str | None, str]] = []
        self._failed: int | None = None
        self._file: str | None = None
        self._printed = False
        self._suites: dict[int, str] = {}

    def feed(self, line: str) -> bool:
        """Take one line."""
        if found := _RUN.match(line):
            self._close()
            self._begin(int(found.group("major")))
            self.holding = True
            return True
        if line.startswith(_NO_FILES):
            self._blocked = self._blocked or "no tests ran"
            return True
        if line.startswith("⎯") and self._ruled(line):
            return True
        if not self.holding or _SHELL.match(line):
            self.holding = False
            return False
        if not self._closing(line):
            if self._section:
                self._told(line)
            else:
                self._progress(line)
        return True

    def _ruled(self, line: str) -> bool:
        banner = _BANNER.match(line)
        if banner:
            self._finish()
            self._section = banner.group("what")
            self.holding = True
            if self._section == "Startup Error":
                self._blocked = self._blocked or "vitest did not start"
            return True
        if _RULE.match(line) and self.holding:
            if "[" in line:
                self._finish()
            return True
        return False

    def _closing(self, line: str) -> bool:
        counts = _TESTS.match(line)
        if counts:
            self._finish()
            found = _FAILED.search(counts.group("rest"))
            self._failed = int(found.group(1)) if found else 0
            self._ended, self._section = True, None
            return True
        if _END.match(line):
            self._close()
            self.holding = False
            return True
        return False

    def _told(self, line: str) -> None:
        """A line below a banner."""
        report = self._report
        found = _FAIL.match(line)
        if found:
            if report is None or report.lines:
                self._finish()
                self._report = report = _Report(whole=self._section == "Failed Suites")
            if report and len(report.names) < MOST:
                report.names.append(found.group("name").rstrip())
        elif report is not None and len(report.lines) < MOST_LINES:
            report.lines.append(line[:LONGEST])
        elif self._section and self._section.startswith("Unhandled") and len(self._unhandled) < MOST_LINES:
            self._unhandled.append(line[:LONGEST])

    def _finish(self) -> None:
        report, self._report = self._report, None
        if report is None:
            return
        for name in report.names:
            if len(self._reported) < MOST:
                self._reported.append(_failure(name, report))
            else:
                self._dropped += 1

    def _progress(self, line: str) -> None:
        """A line of the list of files and tests, before any banner."""
        if len(line) > LONGEST:
            return
        if _PRINTED.match(line):
            self._printed = True
        elif found := _FILE.match(line):
            self._printed = False
            self._file, self._suites = _named(found.group("name"))[0], {}
            if len(self._files) < MOST_IDS:
                self._files.add(self._file)
            if found.group("mark") in "✓✔√" and len(self._passed) < MOST_IDS:
                self._passed.add(self._file)
        elif (row := _ROW.match(line)) and not (self._printed and " > " not in line):
            self._row(len(row.group("indent")), row.group("mark"), row.group("title").rstrip())

    def _row(self, indent: int, mark: str, title: str) -> None:
        title = _TIMES.sub("", title)
        lasted = _DURATION.search(title)
        shown = lasted is not None and (self._major >= 3 or (self._major == 2 and indent > 1) or _slow(lasted))
        if lasted and shown:
            title = title[: lasted.start()]
        file, test = self._file, title
        if indent == 1 or mark == "❯":
            file, test = _named(title)
            if not test or "." not in file:
                return
        elif suite := _SUITE.match(title) if not shown else None:
            self._suites = {depth: name for depth, name in self._suites.items() if depth < indent}
            self._suites[indent] = suite.group("title")
            return
        elif indent > 3:
            above = [self._suites.get(depth) for depth in range(3, indent, 2)]
            if None in above:
                return  # the row names the test, not the suites around it
            test = " > ".join([*(name for name in above if name), title])
        if mark in "✓✔√" and len(self._passed) < MOST_IDS:
            self._passed.add(test)
        elif mark in "↓□" and len(self._skipped) < MOST_IDS:
            self._skipped.add(test)
        elif mark in "×❯" and len(self._order) < MOST:
            self._rows[(file, test)] += 1
            self._order.append((file, test))

    def _close(self) -> None:
        """A run ends."""
        self._finish()
        tests = once([one for one in self._reported if one.kind is FailureKind.FAILED], self._rows, self._failed)
        suites = once([one for one in self._reported if one.kind is FailureKind.ERROR], Counter(), 0)
        told = {(one.file, one.id) for one in tests}
        if not tests:
            tests = [Failure(tool="vitest", id=t, file=f) for f, t in self._order if (f, t) not in told]
        self._findings += [*suites, *tests]
        if not suites and not tests and self._unhandled:
            self._findings += _unhandled(self._unhandled)
        self._begin(self._major)

    def found(self, exit_code: int | None) -> Found:
        """Every failing suite and test, in the order reported."""
        self._close()
        failed = {failure.id for failure in self._findings}
        return Found(
            findings=tuple(self._findings[:MOST]),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            collected=frozenset(self._files),
            blocked=self._blocked,
            ended=self._ended,
            dropped=self._dropped,
        )


def _slow(lasted: re.Match[str]) -> bool:
    """Before version 3 a duration stands only behind tests over the threshold of 300 ms."""
    return len(lasted.group("ms")) < 9 and int(lasted.group("ms")) >= 300


def _named(name: str) -> tuple[str, str]:
    """(file, titles) of `|project| file > suite > test`; colours may have stood for the project's bars."""
    project = _PROJECT.match(name)
    if project:
        name = name[project.end() :]
    file, _, titles = name.partition(" > ")
    file = file.strip().rsplit("  ", 1)[-1].strip()
    place = _PLACE.match(file)
    return relative(place.group("file") if place else file), titles.strip()


def _failure(name: str, report: _Report) -> Failure:
    whole = _WHOLE.search(name)
    file, test = _named(name[: whole.start()] if whole else name)
    parts = taken_apart(_own_lines(report.lines), arrow="❯")
    words = parts.words
    while words and not words[0].strip():
        words.pop(0)
    message = words[0].rstrip() if words else None
    expected, actual = _pair(words)
    failure = Failure(
        tool="vitest",
        id=test or file,
        kind=FailureKind.ERROR if report.whole or not test else FailureKind.FAILED,
        file=file,
        exception=kind_of(message),
        assertion=message,
        message=message,
        expected=expected,
        actual=actual,
        detail=detail_of(words[1:]),
        collection=report.whole or not test,  # a suite's hook is no test: it never passes by name
    )
    return placed(failure, parts)


def _own_lines(lines: list[str]) -> list[str]:
    """Up to where the stack ends: an annotation of another error may follow before the rule that closes this one."""
    kept: list[str] = []
    stack = False
    for line in lines:
        if stack and kept and not kept[-1].strip() and line.strip() and not _STACK.match(line):
            break
        stack = stack or line.startswith(" ❯ ")
        if not _RULE.match(line):
            kept.append(line)
    return kept


def _pair(words: list[str]) -> tuple[str | None, str | None]:
    """`Expected: x` and `Received: y`, each one line, on the label's line or below it; else the two rows of a diff."""
    for at, line in enumerate(words[1:], 1):
        if found := _EXPECTED.match(line):
            expected, rest = _value(found, words, at)
            if rest < len(words) and expected is not None and (other := _RECEIVED.match(words[rest])):
                actual, end = _value(other, words, rest)
                whole = end >= len(words) or not words[end].strip() or other.group("value") is not None
                return (expected, actual) if actual is not None and whole else (None, None)
            return None, None
        if _LEGEND.match(line):
            rows = words[at:]
            return row_pair(row for row in rows if not _LEGEND.match(row))
    return None, None


def _value(found: re.Match[str], words: list[str], at: int) -> tuple[str | None, int]:
    """(value, index of the next line that is not empty)."""
    value: str | None = found.group("value")
    at += 1
    if value is None and at < len(words):
        value, at = words[at].strip() or None, at + 1
    while at < len(words) and not words[at].strip():
        at += 1
    return value, at


def _unhandled(lines: list[str]) -> list[Failure]:
    """Errors outside of any test, where no test failed: else nothing would say why the run is red."""
    origin = next((m for m in (re.search(r'originated in "([^"]+)" test file', line) for line in lines) if m), None)
    parts = taken_apart(lines, arrow="❯")
    words = [word for word in parts.words if word.strip() and not word.startswith(("Vitest caught", "This "))]
    if not words:
        return []
    file = relative(origin.group(1)) if origin else (parts.frames[0].file if parts.frames else None)
    failure = Failure(
        tool="vitest",
        id=file or "unhandled error",
        kind=FailureKind.ERROR,
        file=file,
        exception=kind_of(words[0]),
        assertion=words[0],
        message=words[0],
    )
    return [placed(failure, parts)]
