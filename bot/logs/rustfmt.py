"""`cargo fmt --check`: one row for each hunk that rustfmt would change."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import Rows
from bot.logs.paths import relative

_DIFF = re.compile(r"Diff in (?P<file>.+?)(?: at line |:)(?P<line>\d{1,9}):$")
_NEWLINE = re.compile(r"Incorrect newline style in (?P<file>.+)$")


class Rustfmt(Rows):
    """`Diff in FILE:LINE:`, before version 1.8 `Diff in FILE at line LINE:`."""

    starts: ClassVar[tuple[str, ...]] = ("Diff in ", "Incorrect newline style in ")

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _DIFF.match(line)
        if found is None and (found := _NEWLINE.match(line)) is None:
            return False
        number = found.groupdict().get("line")
        row = Diagnostic(
            tool="rustfmt",
            file=relative(found.group("file")),
            line=int(number) if number else None,
            message="would be reformatted" if number else "incorrect newline style",
        )
        return self.add(row)
