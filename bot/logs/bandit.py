"""bandit, its text (screen and txt) output (JSON is read in jsonout.py)."""

from __future__ import annotations

import csv
import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Rows
from bot.logs.paths import relative

_ISSUE = re.compile(r">> Issue: \[(?P<code>B\d+)(?::(?P<name>\w+))?\] (?P<text>.+)$")
_SEVERITY = re.compile(r"\s+Severity: (\w+)")
_CUSTOM = re.compile(r"(?P<file>[^:]+):(?P<line>\d{1,9}): (?P<code>B\d{3})\[\w+\]: (?P<level>[A-Z]+): (?P<text>.+)$")
_NUMBER = re.compile(r"[0-9]{1,9}")
_CSV = "filename,test_name,test_id,issue_severity,"
_PLACE = re.compile(r"\s+Location: (?P<file>.+?):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?$")


class Bandit(Rows):
    """Issues of bandit; columns are as printed, counted from 0."""

    starts: ClassVar[tuple[str, ...]] = (">> Issue: [B", "filename,test_name,")
    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE,)

    def __init__(self) -> None:
        super().__init__()
        self._issue: tuple[str, str] | None = None
        self._severity = "error"
        self._columns: list[str] | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        if found := _ISSUE.match(line):
            self._issue = (found.group("code"), found.group("text"))
            self.holding = True
            return True
        if found := _CUSTOM.match(line):
            return self.add(
                Diagnostic(
                    tool="bandit",
                    file=relative(found.group("file")),
                    line=int(found.group("line")),
                    code=found.group("code"),
                    message=found.group("text"),
                    severity=found.group("level").lower(),
                )
            )
        if self._issue is None:
            return self._table(line)
        if found := _SEVERITY.match(line):
            self._severity = found.group(1).lower()
            return True
        if found := _PLACE.match(line):
            code, text = self._issue
            self._issue, self.holding = None, False
            row = Diagnostic(
                tool="bandit",
                file=relative(found.group("file")),
                line=int(found.group("line")),
                col=int(found.group("col")) if found.group("col") else None,
                code=code,
                message=text,
                severity=self._severity,
            )
            return self.add(row)
        self.holding = line.startswith("  ")
        return self.holding

    def _table(self, line: str) -> bool:
        """Rows of `-f csv`, by the names in its first line."""
        if line.startswith(_CSV):
            self._columns = line.split(",")
            self.holding = True
            return True
        if self._columns is None:
            return False
        row = dict(zip(self._columns, next(csv.reader([line]), []), strict=False))
        place, column = row.get("line_number", ""), row.get("col_offset", "")
        if not _NUMBER.fullmatch(place):
            self._columns, self.holding = None, False
            return False
        return self.add(
            Diagnostic(
                tool="bandit",
                file=relative(row["filename"]),
                line=int(place),
                col=int(column) if _NUMBER.fullmatch(column) else None,
                code=row["test_id"],
                message=row.get("issue_text", ""),
                severity=row["issue_severity"].lower(),
            )
        )
