"""jest's reports, versions 24 to 30: default, verbose, summary and github-actions reporters.

Layout: jest-message-util (`formatResultsErrors`, `formatExecError`) and @jest/reporters (`getResultHeader`,
`VerboseReporter`, `SummaryReporter`, `GitHubActionsReporter`). A console block's text is indented by six columns, or
four in verbose runs, and a failure's title by two, so that printed text cannot pass for a failure.
Files are told like tests, as collected and passed: only verbose runs name the tests that passed.
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

_HEADER = re.compile(r"(?P<indent>  ?)?(?P<word>PASS|FAIL) +(?P<rest>\S.*)$")
_DETAIL = re.compile(r" \([^()]*\d ?(?:m?s|MB heap size)\)$")
_GROUPED = re.compile(r"Errors thrown in (?P<file>\S+)$")
_TITLE = "  ● "
_BROKEN = "Test suite failed to run"
_ROW = re.compile(r"(?P<mark>[✓✕○✎√×]) (?P<title>.*?)(?: \(\d[\d.]* ?m?s\))?$")
_COUNTS = re.compile(r"Tests: +(?P<rest>.*\d total)$")
_FAILED = re.compile(r"(\d{1,9}) failed")
_CONSOLE = re.compile(r" {2,4}console\.\w+$")
_EXPECTED = re.compile(r"Expected(?P<of>(?: [a-z][\w ]*)?): +(?P<value>\S.*)$")
_RECEIVED = re.compile(r"Received(?P<of>(?: [a-z][\w ]*)?): +(?P<value>\S.*)$")
_NODE_EXPECTED = re.compile(r"Expected value .*to .*:$|Expected the .*:$")
_LEGEND = re.compile(r"[-+] (?:Expected|Received|Snapshot)(?: +[-+] \d+)?$")


@dataclass(kw_only=True)
class _Block:
    """One `● title` report: its lines, and the file it was printed under."""

    title: str
    file: str | None
    again: bool = False
    lines: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class _Run:
    """What one run of jest said, up to its `Tests:` line."""

    failures: list[tuple[Failure, bool]] = field(default_factory=list)
    rows: list[tuple[str | None, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    failed: int | None = None


class Jest:
    """Push parser; a step may run jest several times."""

    starts: ClassVar[tuple[str, ...]] = (
        *("PASS ", "FAIL ", " PASS ", " FAIL ", "  PASS ", "  FAIL ", _TITLE, "Test Suites: ", "Tests: "),
        *("Summary of all failing tests", "Errors thrown in ", "::group::", "● Validation Error:"),
        *("No tests found, exiting with code 1",),
    )
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
        self._run = _Run()
        self._file: str | None = None
        self._block: _Block | None = None
        self._again = False
        self._indent = 0
        self._rows = False
        self._suites: dict[int, str] = {}

    def feed(self, line: str) -> bool:
        """Take one line."""
        line = line.removeprefix("::group::")[:LONGEST]
        if line.startswith(_TITLE) and line[4:5] not in ("", " "):
            return self._titled(line[4:].rstrip())
        if self._block is not None and self._body(self._block, line):
            return True
        if self._header(line) or self._closing(line):
            return True
        if self._rows and self._row(line):
            return True
        self._rows = False
        self.holding = self.holding and (not line.strip() or line[0] == " ")
        return self.holding

    def _body(self, block: _Block, line: str) -> bool:
        """Text of a report is indented by four columns at least; up to its first empty line a title goes on."""
        if not block.lines and line.strip() and len(block.title) < LONGEST:
            block.title += "\n" + line
            return True
        if not line.strip() or line.startswith("    ") or (line.startswith("thrown: ") and len(block.lines) < 2):
            if len(block.lines) < MOST_LINES:
                block.lines.append(line[:LONGEST])
            return True
        self._finish()
        return False

    def _titled(self, title: str) -> bool:
        self._finish()
        self._rows = False
        self._block = _Block(title=title, file=self._file, again=self._again)
        self.holding = True
        return True

    def _header(self, line: str) -> bool:
        found = _HEADER.match(line)
        if found:
            path = _DETAIL.sub("", found.group("rest").rstrip()).rsplit(" ", 1)[-1]
            if not re.search(r"[./\\]", path) or " > " in line or line.rstrip().endswith("]"):
                return False
            self._open(relative(path), len(found.group("indent") or "") // 2 * 2)
            if found.group("word") == "PASS" and len(self._passed) < MOST_IDS:
                self._passed.add(relative(path))
            return True
        grouped = _GROUPED.match(line)
        if grouped:
            self._open(relative(grouped.group("file")), 0)
            self._again = True
        return grouped is not None

    def _open(self, file: str, indent: int) -> None:
        self._finish()
        self._file, self._indent = file, indent
        if len(self._files) < MOST_IDS:
            self._files.add(file)
        self._rows, self._suites = True, {}
        self.holding = True

    def _closing(self, line: str) -> bool:
        """Lines outside of any file's report."""
        if line.startswith("Test Suites: ") and " total" in line:
            self._finish()
            self._ended, self.holding = True, False
            return True
        if counts := _COUNTS.match(line):
            self._finish()
            failed = _FAILED.search(counts.group("rest"))
            self._run.failed = int(failed.group(1)) if failed else 0
            self._end_run()
            return True
        if line == "Summary of all failing tests":
            self._finish()
            self._again = True
            return True
        if line.startswith("● Validation Error:"):
            self._blocked = self._blocked or "jest: its configuration is not valid"
            return True
        if line.startswith("No tests found, exiting with code 1"):
            self._blocked = self._blocked or "no tests ran"
            return True
        return False

    def _row(self, line: str) -> bool:
        """A row of the tree that a verbose run prints below a file's header."""
        text = line.strip()
        level = (len(line) - len(line.lstrip()) - self._indent) // 2
        if not text or level < 1:
            return False
        row = _ROW.match(text)
        if row is None:
            self._suites = {depth: title for depth, title in self._suites.items() if depth < level}
            self._suites[level] = text
            return True
        mark, title = row.group("mark"), row.group("title")
        if mark in "○✎":
            title = title.removeprefix("skipped ").removeprefix("todo ")
        test = _joined([self._suites[depth] for depth in sorted(self._suites) if depth < level] + [title])
        if mark in "✓√" and len(self._passed) < MOST_IDS:
            self._passed.add(test)
        elif mark in "○✎" and len(self._skipped) < MOST_IDS:
            self._skipped.add(test)
        elif mark in "✕×" and len(self._run.rows) < MOST:
            self._run.rows.append((self._file, test))
        return True

    def _finish(self) -> None:
        """Close the report that is open."""
        block, self._block = self._block, None
        if block is None or _is_console(block):
            return
        if len(self._run.failures) >= MOST:
            self._dropped += 1
            return
        failure = _failure(block)
        if failure:
            self._run.failures.append((failure, block.again))

    def _end_run(self) -> None:
        self._findings += _judged(self._run)
        self._run, self._file, self._again = _Run(), None, False
        self.holding = False

    def found(self, exit_code: int | None) -> Found:
        """Every failing test, in the order reported."""
        self._finish()
        self._end_run()
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


def _is_console(block: _Block) -> bool:
    first = next((line for line in block.lines if line.strip()), "")
    return block.title == "Console" and bool(_CONSOLE.match(first))


def _joined(titles: list[str]) -> str:
    return " > ".join(titles).replace(" › ", " > ")


def _failure(block: _Block) -> Failure | None:
    """None where nothing shows that this is jest's: no file was named before and no place is given."""
    indent = 4
    lines = [line[indent:] if line.startswith(" " * indent) else line for line in block.lines]
    parts = taken_apart(lines)
    words = parts.words
    while words and not words[0].strip():
        words.pop(0)
    if block.file is None and not parts.frames:
        return None
    message = words[0].rstrip() if words else None
    expected, actual = _pair(words)
    whole = block.title == _BROKEN
    file = block.file or parts.frames[-1].file
    failure = Failure(
        tool="jest",
        id=file if whole else _joined([block.title]),
        kind=FailureKind.ERROR if whole else FailureKind.FAILED,
        file=file,
        exception=kind_of(message),
        assertion=message,
        message=message,
        expected=expected,
        actual=actual,
        detail=detail_of(words[1:]),
        collection=whole,
    )
    return placed(failure, parts)


def _pair(words: list[str]) -> tuple[str | None, str | None]:
    """`Expected x: ...` with the `Received y: ...` right below it; else the two rows of a diff."""
    expected: str | None = None
    for at, line in enumerate(words):
        if found := _EXPECTED.match(line):
            expected = found.group("value")
        elif (found := _RECEIVED.match(line)) and expected is not None:
            return expected, found.group("value")
        elif _NODE_EXPECTED.match(line) and at + 3 < len(words) and words[at + 2] == "Received:":
            return words[at + 1].strip() or None, words[at + 3].strip() or None
        elif not line.strip():
            expected = None
    start = next((at for at, line in enumerate(words) if _LEGEND.match(line)), len(words))
    return row_pair(line for line in words[start:] if not _LEGEND.match(line))


def _judged(run: _Run) -> list[Failure]:
    """Reports told twice (again in the summary, or two errors of one test) count once; rows without report count."""
    first = [failure for failure, again in run.failures if not again]
    told = {(failure.file, failure.id) for failure in first}
    first += [failure for failure, again in run.failures if again and (failure.file, failure.id) not in told]
    kept = once(first, Counter(run.rows), run.failed)
    told = {(failure.file, failure.id.partition("\n")[0]) for failure in kept}
    return kept + [Failure(tool="jest", id=test, file=file) for file, test in run.rows if (file, test) not in told]
