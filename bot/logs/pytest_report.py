"""The layout of pytest's terminal report: which line opens, continues or closes which part.

The hard part is that a report can hold other reports: captured output of a failing test may show a whole fake one.
Three things tell them apart: a real ruler is exactly as wide as the session's first one, a nested session opens and
closes by itself, and nothing but the end can follow a real summary. Layout: `_pytest/terminal.py`, versions 3 to 9.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.logs.parser import MOST, MOST_IDS
from bot.logs.trace import Trace

_RULED = frozenset("=_-!+~")
_RULER = re.compile(r"([=_!+~-])\1*+ (.*\S) \1+$")
_COUNT = r"\d{1,9} (?:failed|passed|skipped|deselected|x?failed|xpassed|errors?|warnings?|rerun|subtests \w+|error)"
_FINAL = re.compile(rf"(?:{_COUNT}(?:, {_COUNT})*|no tests ran)(?: in [\d.]+ ?s(?:econds)?)(?: \([\d:, days]+\))?$")
_VERBOSE = re.compile(
    r"(?:\[gw\d+\] (?:\[ *\d+%\] )?)?(?P<id>\S.*?) "
    r"(?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUB(?:FAIL|PASS|SKIP)(?:ED)?)(?P<sub>[\[(]\S.*?[\])])?"
    r"(?: \(.*\))?(?: +\[ *\d+(?:%|/\d+)\])?(?: [\d.]+s)?\s*$"
)
_XDIST = re.compile(r"\[gw\d+\] (?:\[ *\d+%\] )?(?P<status>[A-Z]+) (?P<id>\S.*?)\s*$")
_STATUS_ONLY = re.compile(r"(?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) *(?:\(.*\))? *(?:\[ *\d+%\])? *$")
_PROGRESS = re.compile(
    r"\S+\.py [.FEsxXR]* *(?:\[ *\d+%\])?$|\S+\.py::.* [A-Z]{5,} *(?:\[ *\d+%\])?$|\[gw\d+\] | +\[ *\d+%\]$"
)
_STARTED = re.compile(r"(?P<id>[^\s:]+(?:::\S.*?)?::[^\s\[]+(?:\[.*\])?)(?: |$)")
_DOTS = re.compile(r"(?:(?P<file>\S.*?) )?(?P<dots>[.FEsxXRu,\-]+) *(?:\[ *\d+%\])?$")
_ENTRY = re.compile(
    r"(?P<status>FAILED|ERROR|PASSED|SKIPPED|XFAIL|XPASS|RERUN) (?P<text>\S.*)"
    r"|(?P<before>(?:\[.{0,300}?\])? ?(?:\(.{0,300}?\))?) ?SUB(?P<sub>FAIL|PASS|SKIP)(?:ED)?"
    r"(?P<after>[\[(].{0,600}?[\])])? (?P<rest>\S*::.+)"
)
_TEST = re.compile(r"\S*::|\S+\.\w+(?: - |$)|[\w./-]*/[\w./-]*(?: - |$)")
_COLLECTED = re.compile(r"(?:collecting .*?)?collected (\d{1,9}) items?|\d+ workers? \[(\d{1,9}) items?\]")
_PROGRESS_MOST = 2000
"""No progress line is longer; the patterns for them take quadratic time in the worst case."""
_PLAIN = frozenset(("PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS", "RERUN"))
_PASSING = ("PASSED", "XFAIL", "XPASS")


@dataclass
class Section:
    """One failure or error as the report shows it under its title; `doubt`: inside what may be captured output."""

    kind: str
    title: str
    trace: Trace = field(default_factory=Trace)
    captured: list[str] = field(default_factory=list)
    size: int = 0
    doubt: bool = False
    doctest: list[str] = field(default_factory=list)

    def keep(self, line: str) -> None:
        """Keep a line of captured output, up to a bound."""
        if self.size < 4000:
            self.captured.append(line[:500])
            self.size += min(len(line), 500) + 1


@dataclass
class Entry:
    """One line of the short summary, with the lines that its message runs over; `part` names a subtest."""

    status: str
    text: str
    part: str | None = None
    more: list[str] = field(default_factory=list)
    full: bool = False
    after_more: bool = False
    after_text: bool = False


@dataclass
class Session:
    """Everything that one pytest run printed, before it is made sense of."""

    width: int | None = None
    quiet: bool = True
    root: str | None = None
    sections: list[Section] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    oneliners: list[str] = field(default_factory=list)
    verbose: dict[str, str] = field(default_factory=dict)
    failed_verbose: list[tuple[str, str]] = field(default_factory=list)
    dotted: list[tuple[str, str]] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    collected: int | None = None
    dropped: int = 0
    stray: Counter[str] | None = None
    started: str | None = None
    counts: Counter[str] | None = None
    blocked: str | None = None
    crash: list[str] = field(default_factory=list)
    crash_word: str | None = None


def ruler(line: str) -> tuple[str, str] | None:
    """(character, title) of a ruled line, balanced as pytest writes it; None for any other line."""
    if line[:1] not in "=_!-+~" or line[-1:] != line[:1]:
        return None
    found = _RULER.match(line)
    if found is None:
        return None
    char, title = found.group(1), found.group(2)
    left = found.start(2) - 1
    right = len(line) - found.end(2) - 1
    if not 0 <= right - left <= 1 or not title.strip("_ "):
        return None
    return char, title


def final(text: str) -> Counter[str] | None:
    """Counts of the closing line ("2 failed, 1 passed in 0.1s"); an empty Counter when no tests ran."""
    if not _FINAL.match(text):
        return None
    counts: Counter[str] = Counter()
    for number, word in re.findall(r"(\d+) (\w+)", text.split(" in ")[0]):
        counts[word.removesuffix("s") if word.startswith("error") else word] += int(number)
    return counts


def _entry(line: str) -> Entry | None:
    """A line of the short summary that names a test; a line of somebody's message only begins like one."""
    found = _ENTRY.match(line)
    if found is None:
        return None
    if found.group("sub"):
        status = {"FAIL": "FAILED", "PASS": "PASSED", "SKIP": "SKIPPED"}[found.group("sub")]
        return Entry(status, found.group("rest"), part=(found.group("after") or found.group("before") or "").strip())
    status, text = found.group("status"), found.group("text")
    if status in ("FAILED", "ERROR") and not _TEST.match(text):
        return None
    return Entry(status, text)


class Report:
    """The state machine over one pytest run; `session` is filled as lines come in."""

    def __init__(self) -> None:
        self.session = Session()
        self.state = "idle"
        self._kind = "failed"
        self._section: Section | None = None
        self._nested = 0
        self._file = ""
        self._instant = self._doubt = False
        self._states: dict[str, Callable[[str], None]] = {
            "run": self._in_run,
            "skip": self._in_skip,
            "lines": self._in_lines,
            "trace": self._in_trace,
            "doctest": self._in_doctest,
            "captured": self._in_captured,
            "summary": self._in_summary,
            "crash": self._in_crash,
        }

    def feed(self, line: str) -> bool:
        """Take one line; False when the run is over (or never began) and the line is not pytest's."""
        ruled = ruler(line) if line[:1] in _RULED else None
        if self._nested:
            self._nest(ruled)
            return True
        if ruled and self._believed(line, ruled[0]) and self._turn(ruled[0], ruled[1], line):
            return True
        if line[:1].isdigit() or line.startswith("no tests"):
            counts = final(line)
            if counts is not None and self._closed(counts):
                return True
        if self.state in ("idle", "done"):
            return False
        if self._instant and self.state in ("trace", "captured") and _PROGRESS.match(line):
            self.state = "run"
        self._states[self.state](line)
        return True

    def _closed(self, counts: Counter[str]) -> bool:
        """An unruled closing line: real in a quiet run, but for captured output, which may quote one."""
        if self.state == "captured":
            self.session.stray = counts
            return False
        if self.session.quiet and self.state != "done":
            self._end(counts)
            return True
        return False

    def _believed(self, line: str, char: str) -> bool:
        """Inside captured output only a ruler of exactly the session's width is taken for real."""
        width = self.session.width
        if self.state not in ("captured", "done") or width is None or line.endswith(" test session starts " + "=" * 3):
            return True
        return len(line) == width or (char == "_" and len(line) > width and line.startswith("_ "))

    def _nest(self, ruled: tuple[str, str] | None) -> None:
        """A session inside captured output: nothing in it is ours."""
        if ruled and ruled[0] == "=":
            if ruled[1] == "test session starts":
                self._nested += 1
            elif final(ruled[1]) is not None:
                self._nested -= 1

    def _turn(self, char: str, title: str, line: str) -> bool:
        if char == "=":
            return self._part(title, line)
        if self.state == "idle":
            return False
        if char == "!":
            self._stopped(title)
            return True
        if char == "_":
            return self._titled(title, line)
        if char == "-":
            return self._dashed(title)
        if self.state in ("run", "crash") and (title == "Timeout" or title.startswith("Stack of")):
            self._timeout(title)
            return True
        return False

    def _part(self, title: str, line: str) -> bool:
        if title == "test session starts":
            if self.state == "captured":
                self._nested += 1
            else:
                self.session.quiet = False
                self.session.width = len(line)
                self.state = "run"
        elif title in ("FAILURES", "ERRORS"):
            self._reopen()
            self._doubt = self.state == "captured"
            self._kind = "failed" if title == "FAILURES" else "error"
            self._enter("lines", line)
        elif title == "short test summary info":
            self.session.entries.clear()
            self._enter("summary", line)
        elif (counts := final(title)) is not None and self.state != "idle":
            self._end(counts)
        elif self.state in ("idle", "done"):
            return False
        else:
            self._enter("skip", line)
        return True

    def _enter(self, state: str, line: str) -> None:
        if self.session.width is None:
            self.session.width = len(line)
        self.state = state

    def _reopen(self) -> None:
        """Sections after a summary: that summary was only quoted by a test."""
        if self.state in ("summary", "done"):
            self.session.entries.clear()
            self.session.counts = None
            self._doubt = False

    def _titled(self, title: str, line: str) -> bool:
        if self.state in ("skip", "crash"):
            return self.state != "crash"
        if self.state == "run":
            if len(line) != self.session.width:
                return False
            self._instant = True  # pytest-instafail and the like: failures in the middle of the progress
        if self._instant:
            self._kind = "error" if title.startswith("ERROR ") else "failed"
        self._reopen()
        if len(self.session.sections) >= MOST:
            self.session.dropped += 1
            self.state = "skip"
            return True
        self._section = Section(self._kind, title, doubt=self._doubt)
        self.session.sections.append(self._section)
        self.state = "doctest" if title.startswith("[doctest]") else "trace"
        return True

    def _dashed(self, title: str) -> bool:
        captured = title.startswith("Captured ") and self._section is not None
        if self.state in ("run", "skip", "crash") or (self.state == "done" and not captured):
            return self.state not in ("crash", "done")
        if self.state == "lines":
            return True
        self._reopen()
        self.state = "captured" if captured else "skip"
        return True

    def _stopped(self, title: str) -> None:
        if title.startswith("Interrupted: ") and "collection" in title:
            self.session.blocked = title.removeprefix("Interrupted: ")
        elif "KeyboardInterrupt" in title or title.startswith(("_pytest.outcomes.Exit", "Exit")):
            self.session.blocked = title

    def _timeout(self, title: str) -> None:
        if title == "Timeout" and self.session.crash_word is None:
            self.session.crash_word = "Timeout"
        self.session.crash.append(f"~ {title}")
        self.state = "crash"

    def _end(self, counts: Counter[str]) -> None:
        self.session.counts = counts
        self.state = "done"

    def _in_skip(self, line: str) -> None:
        """A part that names no failures."""

    def _in_lines(self, line: str) -> None:
        """`--tb=line`: whole failures, one a line, without titles."""
        if line and not line.startswith((" ", "\t", "E   ")) and len(self.session.oneliners) < MOST:
            self.session.oneliners.append(line[:4000])

    def _in_trace(self, line: str) -> None:
        if self._section is not None:
            self._section.trace.feed(line)

    def _in_doctest(self, line: str) -> None:
        if self._section is not None and len(self._section.doctest) < 500:
            self._section.doctest.append(line[:4000])

    def _in_captured(self, line: str) -> None:
        if self._section is not None:
            self._section.keep(line)

    def _in_summary(self, line: str) -> None:
        entries = self.session.entries
        found = _entry(line)
        if found:
            if len(entries) < MOST:
                before = entries[-1].more if entries else []
                found.full = len(line) == self.session.width
                found.after_more = bool(before)
                found.after_text = bool(before) and not before[-1].startswith((" ", "assert "))
                entries.append(found)
            elif found.status in ("FAILED", "ERROR"):
                self.session.dropped += 1
        elif entries and len(entries[-1].more) < 200:
            last = entries[-1]
            if not last.more and last.full and " - " not in last.text:
                last.text += line  # the terminal broke the line
            else:
                last.more.append(line[:4000])

    def _in_crash(self, line: str) -> None:
        if "::" in line and not line.startswith(" "):
            self._progress(line)
        elif len(self.session.crash) < 600:
            self.session.crash.append(line[:1000])

    def _in_run(self, line: str) -> None:
        session = self.session
        if len(line) > _PROGRESS_MOST:
            return
        if "Fatal Python error: " in line:
            before, word, rest = line.partition("Fatal Python error: ")
            if before:
                self._in_run(before)
            session.crash_word = (word + rest).rstrip()
            self.state = "crash"
        elif "::" in line:
            self._progress(line)
        elif line.startswith("rootdir: "):
            session.root = line.removeprefix("rootdir: ").split(", ")[0].strip()
        elif line.startswith("INTERNALERROR>"):
            session.blocked = session.blocked or "internal error of pytest"
        elif found := _STATUS_ONLY.match(line):
            if session.started:
                self._status(session.started, found.group("status"))
        elif found := _COLLECTED.match(line):
            session.collected = int(found.group(1) or found.group(2))
        elif "%]" in line or ".py " in line:
            self.feed_dots(line)

    def _progress(self, line: str) -> None:
        if line[-2:] == "%]":  # the usual line, without a pattern's cost
            test, _, status = line[: line.rfind("[")].rstrip().rpartition(" ")
            if status in _PLAIN and "::" in test and test[0] != "[":
                self._status(test, status)
                return
        found = _XDIST.match(line) or _VERBOSE.match(line)
        if found and "::" in found.group("id"):
            part = found.groupdict().get("sub")
            self._status(found.group("id") + (f" {part}" if part else ""), found.group("status"))
            return
        opened = _STARTED.match(line)
        if opened:
            self.session.started = opened.group("id")
            if " +++" in line and line.rstrip("+").endswith(" Timeout "):
                self._timeout("Timeout")

    def _status(self, test: str, status: str) -> None:
        session = self.session
        session.started = None
        if status in ("FAILED", "ERROR", "SUBFAIL", "SUBFAILED"):
            status = "ERROR" if status == "ERROR" else "FAILED"
            if len(session.failed_verbose) < MOST:
                session.failed_verbose.append((test, status))
        elif status in _PASSING:
            if len(session.passed) < MOST_IDS:
                session.passed.add(test)
        elif status == "SKIPPED" and len(session.skipped) < MOST_IDS:
            session.skipped.add(test)

    def feed_dots(self, line: str) -> None:
        """Letters of a run that is not verbose: they tell which file each failure, in order, belongs to."""
        found = _DOTS.match(line)
        if found is None:
            return
        self._file = found.group("file") or self._file
        for letter in found.group("dots"):
            if letter in "FEu" and len(self.session.dotted) < 3 * MOST:
                self.session.dotted.append((self._file, "E" if letter == "E" else "F"))
