"""eslint and tools that print as it does (`next lint`, standard): stylish, compact, unix, visualstudio, codeframe.

Layout: eslint's `lib/cli-engine/formatters` of versions 5 to 10. In the stylish format a file's path stands on a line
of its own and its complaints follow at once, one a row. A message may run over several lines, blank ones and whole code
frames among them: the rule's name ends the last one. JSON is read in jsonout.py, JUnit and Checkstyle in junit.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import PAREN_ROW, PATH_LINE, ROW_LIKE, Found, Rows
from bot.logs.paths import relative

_RULE = r"(?P<rule>[@A-Za-z][\w@/.-]*)"
_PLACE = r":(?P<line>\d{1,9}):(?P<col>\d{1,9})"
_PATH = re.compile(PATH_LINE)
_PLACED = re.compile(r"  (?P<file>[^\s:][^:]*):\d{1,9}:\d{1,9}$")
_ROW = re.compile(
    r"\s*(?:(?P<mark>[✖⚠×‼]|Line) +)?(?P<line>\d{1,9}):(?P<col>\d{1,9}):?\s+"
    r"(?(mark)|(?P<level>[Ee]rror|[Ww]arning):?\s+)(?P<text>\S.*)$"
)
_NAME = re.compile(rf"\(?{_RULE}\)?$")
_COMPACT = re.compile(
    r"(?P<file>\S.*?): line (?P<line>\d{1,9}), col (?P<col>\d{1,9}), (?P<level>Error|Warning) - (?P<text>.*?)"
    rf"(?: \({_RULE}\))?$"
)
_UNIX = re.compile(rf"(?P<file>(?:[A-Za-z]:)?[^:]+){_PLACE}: (?P<text>.*)\[(?P<level>Error|Warning)(?:/{_RULE})?\]$")
_STUDIO = re.compile(
    r"(?P<file>\S.*?)\((?P<line>\d{1,9})(?:,(?P<col>\d{1,9}))?\): (?P<level>error|warning)"
    rf" *(?:{_RULE})? : (?P<text>.*)$"
)
_STANDARD = re.compile(
    rf"  (?P<file>[^\s:][^:]*){_PLACE}: (?P<text>.*?) \((?:null|{_RULE})\)(?: \((?P<level>warning)\))?$"
)
_FRAMED = re.compile(rf"(?P<level>error|warning): (?P<text>.*?)(?: \({_RULE}\))?$")
_FRAME = re.compile(rf"(?P<file>[^\s:][^:]*){_PLACE}:$")
_BEGUN = re.compile(rf"(?P<file>(?:[A-Za-z]:)?[^:]+\.(?:[cm]?[jt]sx?|vue|svelte|astro)){_PLACE}: (?P<text>.+)$")
_TAIL = re.compile(rf"(?:.* )?\({_RULE}\)$")
_UNIX_TAIL = re.compile(rf".*\[(?P<level>Error|Warning)(?:/{_RULE})?\]$")
_END = re.compile(r"✖ \d+ problems? \(|\d+ problems?$")
_CRASH = "Oops! Something went wrong! :("
_VERSION = re.compile(r"ESLint: \d")
_WHOLE = ("Parsing error: ", "Unused eslint-disable ", "File ignored ")
_MOST_LINES = 60


class Eslint(Rows):
    """Rows of eslint. While a file's block or a message is open every line is asked for here first."""

    starts: ClassVar[tuple[str, ...]] = ("✖ ", "error: ", "warning: ", _CRASH)
    patterns: ClassVar[tuple[str, ...]] = (
        *(ROW_LIKE, PAREN_ROW, PATH_LINE),
        r"\d++ problems?$",
        r"  [^\s:][^:]*+:\d++:\d",
    )

    def __init__(self) -> None:
        super().__init__()
        self._file: str | None = None
        self._next: str | None = None
        self._open = False
        self._begun: re.Match[str] | None = None
        self._gap = False
        self._lines = 0
        self._crashed = False
        self._blocked: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._crashed:
            return self._crash(line)
        head, self._next = self._next, None
        if (head or self._file) and (row := _ROW.match(line)):
            self._file = head or self._file
            return self._row(row)
        if _END.match(line) or line == _CRASH:
            self._leave()
            self._crashed = self.holding = line == _CRASH
            self.ended = self.ended or not self._crashed
            return True
        if self._file is not None and self._member(line):
            return True
        return self._alone(line) or self._more(line) or self._begins(line)

    def _member(self, line: str) -> bool:
        """A line of a file's block that is no row; False when the block is over."""
        self._lines += 1
        if not line.strip():
            self._gap = True
            self._open = self._open and not self.rows[-1].message.startswith(_WHOLE)
            return True
        if (self._gap or self._open) and (header := _header(line)):
            self._next = header
            return True
        if not self._open or self._lines > _MOST_LINES:
            self._leave()
            return False
        self._close(_ruled("  " + line)[1])
        return True

    def _row(self, row: re.Match[str]) -> bool:
        text, rule = _ruled(row["text"].rstrip())
        self._take(_diagnostic(self._file or "", row, text, rule))
        self._gap, self.holding = False, True
        return True

    def _alone(self, line: str) -> bool:
        """A row that names its file itself."""
        found = _COMPACT.match(line) or _UNIX.match(line) or _STUDIO.match(line) or _STANDARD.match(line)
        row = _diagnostic(found["file"], found, found["text"], found["rule"]) if found else _framed(line)
        if row is None:
            return False
        self._leave()
        self._take(row)
        self._open = self.holding = self._open and ", col " in line and not row.message.startswith(_WHOLE)
        return True

    def _more(self, line: str) -> bool:
        """A further line of the message of a compact or a unix row; of the latter only the last one says so."""
        self._lines += 1
        if self._lines > _MOST_LINES:
            self._leave()
        if self._open and (tail := _TAIL.match(line)):
            self._close(tail["rule"])
            self.holding = self._open
            return True
        if self._begun and (tail := _UNIX_TAIL.match(line)):
            row = _diagnostic(self._begun["file"], self._begun, self._begun["text"], tail["rule"], tail["level"])
            self._leave()
            return self.add(row)
        return self._open

    def _begins(self, line: str) -> bool:
        """What the next line may belong to; never claimed, since it may be anybody's."""
        self._next = _header(line)
        if begun := _BEGUN.match(line):
            self._begun, self._lines = begun, 0
        self.holding = self._next is not None or self._begun is not None
        return False

    def _take(self, row: Diagnostic) -> None:
        before = len(self.rows)
        self.add(row)
        self._open = row.code is None and len(self.rows) > before
        self._lines = 0

    def _close(self, rule: str | None) -> None:
        if rule:
            self.rows[-1] = replace(self.rows[-1], code=rule)
            self._open = False

    def _leave(self) -> None:
        self._file = self._next = self._begun = None
        self._open = self._gap = self.holding = False

    def _crash(self, line: str) -> bool:
        """Why eslint gave up: the first line after its version."""
        if line.strip() and not _VERSION.match(line):
            self._blocked = self._blocked or f"eslint crashed: {line.strip()[:300]}"
            self._crashed = self.holding = False
        return True

    def found(self, exit_code: int | None) -> Found:
        """The rows in the order printed."""
        self._leave()
        return replace(super().found(exit_code), blocked=self._blocked)


def _framed(line: str) -> Diagnostic | None:
    """`error: message (rule) at path:line:col:`, as the code frame begins."""
    if line[-1:] != ":" or not line.startswith(("error: ", "warning: ")):
        return None
    said, _, place = line.rpartition(" at ")
    row, at = _FRAMED.match(said), _FRAME.match(place)
    return _diagnostic(at["file"], at, row["text"], row["rule"], row["level"]) if row and at else None


def _ruled(text: str) -> tuple[str, str | None]:
    """(message, rule): the rule stands in a column of its own."""
    before, _, last = text.rpartition("  ")
    named = _NAME.match(last) if before else None
    return (before.strip(), named["rule"]) if named else (text, None)


def _header(line: str) -> str | None:
    if placed := _PLACED.match(line):
        return placed["file"]
    return line.strip() if _PATH.match(line) else None


def _diagnostic(file: str, place: re.Match[str], text: str, rule: str | None, level: str | None = None) -> Diagnostic:
    groups = place.groupdict()
    level = level or groups.get("level") or ("warning" if groups.get("mark") in ("⚠", "‼") else "error")
    return Diagnostic(
        tool="eslint",
        file=relative(file),
        line=int(groups["line"]),
        col=int(groups["col"]) if groups["col"] else None,
        code=rule,
        message=text.strip(),
        severity=level.lower(),
    )
