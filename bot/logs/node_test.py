"""node's own test runner, spec and dot reporters, versions 18 to 24 (TAP is read in tap.py).

Layout: node's `lib/internal/test_runner/reporter/{spec,dot,utils}.js`. Rows form a tree; the errors follow after the
counts, below `✖ failing tests:`, under the test's own name alone: rows of that name, in order, tell the suites around
it. Versions before 22 print the errors below the rows, too. What tests print comes before the counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind
from bot.logs.js import LONGEST, MOST_LINES, crashed, detail_of, kind_of, place, placed, taken_apart
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import relative

_ROW = re.compile(
    r"(?P<indent>(?:  )*)(?P<mark>[✔✖▶﹣⚠]) (?P<title>\S.*?)(?:(?P<ms> \((?:\d+\.\d+|0)ms\))(?P<note> # .*)?| # SKIP)?$"
)
_COUNT = re.compile(r"ℹ (?P<what>tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (?P<number>\d[\d.]*)$")
_LISTS = ("✖ failing tests:", "Failed tests:")
_AT = re.compile(r"test at (?P<place>.+:\d+:\d+)$")
_PROPERTY = re.compile(r"  (?P<key>actual|expected|operator): (?P<value>.*)$")
_PREFIX = re.compile(r"(?:\w*Error|AssertionError)(?: \[\w+\])?: ")
_WHOLE = re.compile(r"(?:\S*[/\\])?\S+\.[cm]?[jt]sx?$")
_PARTS = re.compile(r"\d+ subtests? failed$")
_BUFFER = 80


@dataclass(kw_only=True)
class _Row:
    """A failing row of the tree, and the error below it if there is one."""

    path: str
    title: str
    closing: bool = False
    lines: list[str] = field(default_factory=list)
    used: bool = False


@dataclass(kw_only=True)
class _Entry:
    """One error of the list at the end."""

    title: str
    at: str | None
    lines: list[str] = field(default_factory=list)


class NodeTest:
    """Push parser; a step may run it several times."""

    starts: ClassVar[tuple[str, ...]] = ("✔ ", "✖ ", "▶ ", "﹣ ", "⚠ ", "ℹ tests ", "Failed tests:")
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._findings: list[Failure] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._ended = False
        self._dropped = 0
        self._begin()

    def _begin(self) -> None:
        """A run begins."""
        self._suites: dict[int, str] = {}
        self._rows: list[_Row] = []
        self._row: _Row | None = None
        self._entries: list[_Entry] = []
        self._listing = False
        self._counted = False
        self._sure = False
        self._at: str | None = None
        self._raw: list[str] = []
        self._crashes: dict[str, Failure] = {}
        self.holding = False

    def feed(self, line: str) -> bool:
        """Take one line."""
        line = line[:LONGEST]
        if line.startswith(_LISTS) and (self._counted or line == "Failed tests:"):
            self._listing, self._row = True, None
            self.holding = True
            return True
        if self._listing:
            return self._listed(line)
        if count := _COUNT.match(line):
            self._count(count)
            return True
        row = _ROW.match(line)
        if row and self._tree(row):
            return True
        if self._row is not None and (line.startswith("  ") or not line.strip()):
            if len(self._row.lines) < MOST_LINES:
                self._row.lines.append(line)
            return True
        if self.holding:
            self._raw = [*self._raw[-_BUFFER:], line]
            if line.strip():
                self._row = None
        return False

    def _count(self, count: re.Match[str]) -> None:
        if count.group("what") == "tests" and self._counted:
            self._close()
        self._counted = self._ended = self.holding = True
        self._row = None

    def _tree(self, row: re.Match[str]) -> bool:
        """A row of the tree. Other tools begin lines with these marks, too: a duration as node has it makes sure."""
        mark, title, level = row.group("mark"), row.group("title"), len(row.group("indent")) // 2
        timed = row.group("ms") is not None
        cancelled = self._sure and level > 0 and not title.endswith("ms)")
        if self._counted or not (timed or cancelled or mark in "▶﹣") or (level and level - 1 not in self._suites):
            return False
        self._sure = self._sure or timed
        self.holding = True
        above = [self._suites[depth] for depth in range(level) if depth in self._suites]
        path = " > ".join([*above, title])
        if mark == "▶" and not timed:
            self._suites = {depth: name for depth, name in self._suites.items() if depth < level}
            self._suites[level] = title
            self._row = None
            return True
        self._suites = {depth: name for depth, name in self._suites.items() if depth < level}
        if mark == "﹣" or row.group("note"):
            self._row = None
            if len(self._skipped) < MOST_IDS:
                self._skipped.add(path)
        elif mark == "✔":
            self._row = None
            if len(self._passed) < MOST_IDS:
                self._passed.add(path)
        elif len(self._rows) < MOST:
            self._row = _Row(path=path, title=title, closing=mark == "▶")
            self._rows.append(self._row)
            self._crash(title)
        self._raw = []
        return True

    def _crash(self, title: str) -> None:
        """node told why a file could not be run before it tells that it could not."""
        if self._raw and _WHOLE.match(title) and (crash := crashed(self._raw, "node-test")):
            self._crashes[relative(title)] = crash

    def _listed(self, line: str) -> bool:
        if at := _AT.match(line):
            self._at = at.group("place")
            return True
        row = _ROW.match(line)
        if row and not row.group("indent"):
            if len(self._entries) < MOST:
                title = row.group("title") if not row.group("note") else ""
                self._entries.append(_Entry(title=title, at=self._at))
            else:
                self._dropped += 1
            self._at = None
            return True
        if self._entries and (line.startswith("  ") or not line.strip()):
            if len(self._entries[-1].lines) < MOST_LINES:
                self._entries[-1].lines.append(line[2:])
            return True
        if line.strip():
            self._close()
            return False
        return True

    def _close(self) -> None:
        """A run ends: errors of the list, else of the rows, else the rows alone."""
        if self._entries:
            listed = [(entry, self._row_of(entry)) for entry in self._entries if entry.title]
            told = [self._failure(entry, row) for entry, row in listed if not _of_parts(entry.lines)]
        elif self._sure:
            told = [
                self._failure(_Entry(title=row.title, at=None, lines=_unindented(row.lines)), row)
                for row in self._rows
                if not _of_parts(row.lines)
                and (any(line.strip() for line in row.lines) or not (row.closing or self._parent(row)))
            ]
        else:
            told = []
        told = told[: MOST - len(self._findings)]
        self._findings += told
        self._begin()

    def _parent(self, row: _Row) -> bool:
        return any(other.path.startswith(row.path + " > ") for other in self._rows)

    def _row_of(self, entry: _Entry) -> _Row | None:
        row = next((row for row in self._rows if not row.used and row.title == entry.title), None)
        if row:
            row.used = True
        return row

    def _failure(self, entry: _Entry, row: _Row | None) -> Failure:
        declared = place(entry.at) if entry.at else None
        whole = _WHOLE.match(entry.title) is not None and (row is None or row.path == row.title)
        file = declared.file if declared else (relative(entry.title) if whole else None)
        whole = whole and file is not None and relative(entry.title).endswith(file)
        crash = self._crashes.get(relative(entry.title)) if whole else None
        return failure_of(
            relative(entry.title) if whole else (row.path if row else entry.title),
            entry.lines,
            file=file,
            line=declared.line if declared and not whole else None,
            whole=whole,
            crash=crash,
        )

    def found(self, exit_code: int | None) -> Found:
        """Every failing test, in the order told."""
        self._close()
        failed = {failure.id for failure in self._findings}
        return Found(
            findings=tuple(self._findings),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            ended=self._ended,
            dropped=self._dropped,
        )


def failure_of(
    test: str, lines: list[str], *, file: str | None, line: int | None, whole: bool, crash: Failure | None
) -> Failure:
    """A failure from the lines of an error as `util.inspect` prints it. `line` is where the test was declared."""
    stack = next((at for at, text in enumerate(lines) if text.lstrip().startswith("at ")), len(lines))
    end = next((at for at in range(stack, len(lines)) if not lines[at].lstrip().startswith(("at ", "..."))), len(lines))
    given = _properties(lines[end:])
    parts = taken_apart(lines[:end])
    if not parts.frames:
        parts.chained = taken_apart(lines[end:]).chained
    words = [word.rstrip() for word in parts.words if word.strip()] or [""]
    message = _unquoted(words[0])
    hook = any("TestHook." in text or "SuiteContext." in text for text in lines[stack:end])
    cancelled = message.startswith("test did not finish before its parent")
    pair = (
        (given.get("expected"), given.get("actual"))
        if None not in (given.get("expected"), given.get("actual"))
        else None
    )
    if file is None and parts.frames:
        file = parts.frames[-1].file
    failure = Failure(
        tool="node-test",
        id=test,
        kind=FailureKind.ERROR if whole or hook or cancelled else FailureKind.FAILED,
        file=file,
        exception=kind_of(message),
        assertion=_PREFIX.sub("", message, count=1) or None,
        message=message or None,
        expected=pair[0] if pair else None,
        actual=pair[1] if pair else None,
        detail=detail_of(words[1:]),
        collection=whole,
    )
    return told(placed(failure, parts), line, crash)


def told(failure: Failure, line: int | None, crash: Failure | None) -> Failure:
    """Without a stack, the place where the test was declared; for a whole file, what node said of its end."""
    values: dict[str, object] = {}
    if failure.line is None and line is not None and not failure.frames:
        values["line"] = line
    if crash is not None:
        values |= {name: getattr(crash, name) for name in ("message", "line", "crash", "frames", "exception")}
    return Failure(**{**{name: getattr(failure, name) for name in failure.__dataclass_fields__}, **values})


def _properties(lines: list[str]) -> dict[str, str]:
    """`actual` and `expected` of an assertion, each one line; inequality has no pair."""
    found: dict[str, str] = {}
    for line in lines:
        if (match := _PROPERTY.match(line)) and match.group("key") not in found:
            found[match.group("key")] = match.group("value").rstrip().removesuffix(",")
    shown = all("[Object]" not in value and "[Array]" not in value for value in found.values())
    return found if shown and not found.get("operator", "").strip("'").startswith("not") else {}


def _of_parts(lines: list[str]) -> bool:
    """A suite that failed because of its tests is none by itself; only the dot reporter lists it."""
    first = next((line for line in lines if line.strip()), "")
    return bool(_PARTS.match(_unquoted(first)))


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"`" else text


def _unindented(lines: list[str]) -> list[str]:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]
