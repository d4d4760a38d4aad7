"""flake8 and pycodestyle: one complaint a line, and flake8's pylint format."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Rows
from bot.logs.paths import relative

_ROW = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:]+):(?P<line>\d{1,9}):(?P<col>\d{1,9}): (?P<code>[A-Z]{1,7}\d{1,5}) (?P<text>.+)"
)
_PYLINT = re.compile(r"(?P<file>[^:]+):(?P<line>\d{1,9}): \[(?P<code>[A-Z]{1,7}\d{1,5})\] (?P<text>.+)")


class Flake8(Rows):
    """Rows of flake8."""

    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE,)

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line) or _PYLINT.match(line)
        if found is None:
            return False
        groups = found.groupdict()
        row = Diagnostic(
            tool="flake8",
            file=relative(groups["file"]),
            line=int(groups["line"]),
            col=int(groups["col"]) if groups.get("col") else None,
            code=groups["code"],
            message=groups["text"].strip(),
        )
        return self.add(row)
