"""ruff format --check and --diff."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import COUNTED, Rows
from bot.logs.paths import relative

_WOULD = re.compile(r"Would reformat: (.+)$")
_ARROW = re.compile(r" *--> (.+?):(\d{1,9}):(\d{1,9})$")
_DIFF = re.compile(r"--- (\S.*?)(?:\t.*)?$")
_PARSE = re.compile(r"error: Failed to parse (.+?):(\d+):(\d{1,9}): (.+)$")
_END = re.compile(r"\d+ files? (?:would be reformatted|already formatted|left unchanged)")


class RuffFormat(Rows):
    """Files that ruff format would change; a diff counts as one complaint a file, of severity "diff"."""

    starts: ClassVar[tuple[str, ...]] = ("Would reformat: ", "unformatted: ", "--- ", "+++ ", "error: Failed to parse")
    patterns: ClassVar[tuple[str, ...]] = (r" *+--> \S", COUNTED)

    def __init__(self) -> None:
        super().__init__()
        self._old: str | None = None
        self._unformatted = False

    def feed(self, line: str) -> bool:
        """Take one line."""
        old, self._old = self._old, None
        if found := _WOULD.match(line):
            return self._file(found.group(1))
        if line.startswith("unformatted: "):
            self._unformatted = True
            return True
        if self._unformatted and (found := _ARROW.match(line)):
            self._unformatted = False
            return self._file(found.group(1))
        if found := _PARSE.match(line):
            row = Diagnostic(
                tool="ruff-format",
                file=relative(found.group(1)),
                line=int(found.group(2)),
                col=int(found.group(3)),
                code="invalid-syntax",
                message=found.group(4),
            )
            return self.add(row)
        if found := _DIFF.match(line):
            self._old = found.group(1)
        elif old and line.startswith("+++ ") and line[4:].split("\t")[0].strip() == old:
            return self._file(old, "diff")
        elif _END.match(line):
            self.ended = True
            return True
        return False

    def _file(self, path: str, severity: str = "error") -> bool:
        return self.add(
            Diagnostic(tool="ruff-format", file=relative(path), message="would reformat", severity=severity)
        )
