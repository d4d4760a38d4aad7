"""pylint: text, colorized, parseable and msvs output (JSON is read in jsonout.py)."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Rows
from bot.logs.paths import relative

SEVERITY = {
    "C": "convention",
    "R": "refactor",
    "W": "warning",
    "E": "error",
    "F": "fatal",
    "I": "info",
}
_ROW = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:]+):(?P<line>\d{1,9}):(?P<col>-?\d+): (?P<code>[CRWEFI]\d{4}): "
    r"(?P<text>.+?)(?: \((?P<name>[a-z][\w-]+)\))?$"
)
_PARSEABLE = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:]+):(?P<line>\d{1,9}): \[(?P<code>[CRWEFI]\d{4})\((?P<name>[\w-]+)\), ?[^\]]*\] "
    r"(?P<text>.+)$"
)
_MSVS = re.compile(
    r"(?P<file>.+?)\((?P<line>\d{1,9})\): \[(?P<code>[CRWEFI]\d{4})(?:\((?P<name>[\w-]+)\))?[^\]]*\] ?(?P<text>.+)$"
)


class Pylint(Rows):
    """Rows of pylint; columns are as printed, counted from 0."""

    starts: ClassVar[tuple[str, ...]] = ("Your code has been rated", "************* Module ")
    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE, r"[^:(]++\(\d++\): \[")

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line) or _PARSEABLE.match(line) or _MSVS.match(line)
        if found is None:
            self.ended = self.ended or line.startswith("Your code has been rated at")
            return line.startswith(("Your code has been", "************* Module "))
        groups = found.groupdict()
        row = Diagnostic(
            tool="pylint",
            file=relative(groups["file"]),
            line=int(groups["line"]),
            col=int(groups["col"]) if groups.get("col") else None,
            code=groups["code"],
            message=groups["text"].strip(),
            severity=SEVERITY[groups["code"][0]],
        )
        return self.add(row)
