"""bandit, its text (screen and txt) output (JSON is read in jsonout.py)."""

from __future__ import annotations

import re

from bot.domain.findings import Diagnostic
from bot.logs.parser import Rows
from bot.logs.paths import relative

_ISSUE = re.compile(r">> Issue: \[(?P<code>B\d+)(?::(?P<name>\w+))?\] (?P<text>.+)$")
_SEVERITY = re.compile(r"\s+Severity: (\w+)")
_PLACE = re.compile(r"\s+Location: (?P<file>.+?):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?$")


class Bandit(Rows):
    """Issues of bandit; columns are as printed, counted from 0."""

    trigger = r">> Issue: \[B|\s+Severity: |\s+Location: |Run started:|Code scanned:"

    def __init__(self) -> None:
        super().__init__()
        self._issue: tuple[str, str] | None = None
        self._severity = "error"

    def feed(self, line: str) -> bool:
        """Take one line."""
        if found := _ISSUE.match(line):
            self._issue = (found.group("code"), found.group("text"))
            return True
        if self._issue is None:
            return False
        if found := _SEVERITY.match(line):
            self._severity = found.group(1).lower()
            return True
        if found := _PLACE.match(line):
            code, text = self._issue
            self._issue = None
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
        return False
