"""eslint and tools that print as it does: stylish, compact, unix, and visualstudio output, `next lint`, standard.

Layout: eslint's `lib/cli-engine/formatters` of versions 5 to 10. In the stylish format a file's path stands on a line
of its own and its complaints follow at once, one a row; a message may run over several lines, the rule ends the last
one. JSON is read in jsonout.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import PAREN_ROW, PATH_LINE, ROW_LIKE, Found, Rows
from bot.logs.paths import relative

_RULE = r"(?P<rule>[@A-Za-z][\w@/.-]*)"
_PATH = re.compile(PATH_LINE)
_PLACED = re.compile(r"  (?P<file>[^\s:][^:]*):\d{1,9}:\d{1,9}$")
_ROW = re.compile(
    r"\s*(?:(?P<mark>[✖⚠×‼]|Line) +)?(?P<line>\d{1,9}):(?P<col>\d{1,9}):?\s+"
    r"(?:(?P<level>[Ee]rror|[Ww]arning):?\s+)?(?P<text>\S.*)$"
)
_NAME = re.compile(rf"\(?{_RULE}\)?$")
_COMPACT = re.compile(
    r"(?P<file>\S.*?): line (?P<line>\d{1,9}), col (?P<col>\d{1,9}), (?P<level>Error|Warning) - (?P<text>.*?)"
    rf"(?: \({_RULE}\))?$"
)
_UNIX = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:]+):(?P<line>\d{1,9}):(?P<col>\d{1,9}): (?P<text>.*)"
    rf"\[(?P<level>Error|Warning)(?:/{_RULE})?\]$"
)
_STUDIO = re.compile(
    r"(?P<file>\S.*?)\((?P<line>\d{1,9}),(?P<col>\d{1,9})\): (?P<level>error|warning)"
    rf"(?: {_RULE})? : (?P<text>.*)$"
)
_STANDARD = re.compile(rf"  (?P<file>[^\s:][^:]*):(?P<line>\d{{1,9}}):(?P<col>\d{{1,9}}): (?P<text>.*) \({_RULE}\)$")
_END = re.compile(r"✖ \d+ problems? \(|\d+ problems?$")
_CRASH = "Oops! Something went wrong! :("
_VERSION = re.compile(r"ESLint: \d")
_WHOLE = ("Parsing error: ", "Unused eslint-disable ", "File ignored ")
_MOST_LINES = 60


class Eslint(Rows):
    """Rows of eslint. While a file's block is open every line is asked for here first."""

    starts: ClassVar[tuple[str, ...]] = ("✖ ", _CRASH)
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
        self._gap = False
        self._lines = 0
        self._crashed = False
        self._blocked: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._crashed:
            return self._crash(line)
        head, self._next = self._next, None
        if (head or self._file) and (row := _ROW.match(line)) and (row["level"] or row["mark"]):
            self._file = head or self._file
            return self._row(row)
        if _END.match(line):
            self._leave()
            self.ended = True
            return True
        if self._file is not None and self._inside(line):
            return True
        return self._outside(line)

    def _inside(self, line: str) -> bool:
        """A line of a file's block that is no row; False when the block is over."""
        self._lines += 1
        if not line.strip():
            self._gap = True
            self._open = self._open and not self.rows[-1].message.startswith(_WHOLE)
            return True
        if self._gap and (header := _header(line)):
            self._next = header
            return True
        if not self._open or self._lines > _MOST_LINES:
            self._leave()
            return False
        rule = _ruled("  " + line)[1]
        if rule:
            self.rows[-1] = replace(self.rows[-1], code=rule)
            self._open = False
        return True

    def _outside(self, line: str) -> bool:
        if line == _CRASH:
            self._crashed = self.holding = True
            return True
        found = _COMPACT.match(line) or _UNIX.match(line) or _STUDIO.match(line) or _STANDARD.match(line)
        if found:
            return self.add(_diagnostic(found["file"], found, found["text"], found["rule"]))
        self._next = _header(line)
        self.holding = self._next is not None
        return False

    def _row(self, row: re.Match[str]) -> bool:
        text, rule = _ruled(row["text"].rstrip())
        before = len(self.rows)
        self.add(_diagnostic(self._file or "", row, text, rule))
        self._open = rule is None and len(self.rows) > before
        self._gap, self._lines, self.holding = False, 0, True
        return True

    def _leave(self) -> None:
        self._file = self._next = None
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


def _ruled(text: str) -> tuple[str, str | None]:
    """(message, rule): the rule stands in a column of its own."""
    before, _, last = text.rpartition("  ")
    named = _NAME.match(last) if before else None
    return (before.strip(), named["rule"]) if named else (text, None)


def _header(line: str) -> str | None:
    if placed := _PLACED.match(line):
        return placed["file"]
    return line.strip() if _PATH.match(line) else None


def _diagnostic(file: str, place: re.Match[str], text: str, rule: str | None) -> Diagnostic:
    groups = place.groupdict()
    level = groups["level"] or ("warning" if groups.get("mark") in ("⚠", "‼") else "error")
    return Diagnostic(
        tool="eslint",
        file=relative(file),
        line=int(groups["line"]),
        col=int(groups["col"]),
        code=rule,
        message=text.strip(),
        severity=level.lower(),
    )
