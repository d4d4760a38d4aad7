"""black --check."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import COUNTED, Rows
from bot.logs.paths import relative

_WOULD = re.compile(r"would reformat (.+)$")
_CANNOT = re.compile(
    r"error: cannot format (?P<file>.+?): (?P<text>.*?)(?:: (?P<line>\d{1,9}):(?P<col>\d{1,9})(?:: .*)?)?$"
)
_PARSE = re.compile(r"error: (?P<text>cannot parse): (?P<file>.+):(?P<line>\d{1,9}):(?P<col>\d{1,9})$")
_DIFF = re.compile(r"--- (\S.*?)(?:\t.*)?$")
_END = re.compile(r"(?:Oh no!|All done!)|\d+ files? would be (?:reformatted|left unchanged)")


class Black(Rows):
    """Files that black would change or cannot read; a diff counts as one complaint a file, of severity "diff"."""

    starts: ClassVar[tuple[str, ...]] = ("would reformat ", "error: cannot ", "--- ", "Oh no!", "All done!")
    patterns: ClassVar[tuple[str, ...]] = (COUNTED,)

    def feed(self, line: str) -> bool:
        """Take one line."""
        if found := _WOULD.match(line):
            return self.add(Diagnostic(tool="black", file=relative(found.group(1)), message="would reformat"))
        if found := _PARSE.match(line) or _CANNOT.match(line):
            place = found.group("line")
            row = Diagnostic(
                tool="black",
                file=relative(found.group("file")),
                line=int(place) if place else None,
                col=int(found.group("col")) if place else None,
                message=found.group("text"),
            )
            return self.add(row)
        if (found := _DIFF.match(line)) and "\t" in line and line.rstrip().endswith(("+0000", "+00:00")):
            return self.add(
                Diagnostic(tool="black", file=relative(found.group(1)), message="would reformat", severity="diff")
            )
        if _END.match(line):
            self.ended = True
            return True
        return False
