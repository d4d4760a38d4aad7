"""tsc and vue-tsc: plain and pretty rows, also where a bundler or ts-node prints them.

Layout: TypeScript's `formatDiagnostic` and `formatDiagnosticsWithColorAndContext`; only a row's first line is read,
what follows it (message chain, code frame, related places) explains it. Angular puts "Error: " before a row, webpack's
fork-ts-checker "ERROR in " (and the code on the next line), ts-loader "[tsl] ERROR in "; `next build`
prints the place on a line of its own and no code.
"""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import PAREN_ROW, ROW_LIKE, Found, Rows
from bot.logs.paths import relative

_ROW = re.compile(
    r"(?:Error: |Warning: |ERROR in |WARNING in )?(?P<file>\S[^:]*?)"
    r"(?:\((?P<line>\d{1,9}),(?P<col>\d{1,9})\): |:(?P<line2>\d{1,9}):(?P<col2>\d{1,9}) - )"
    r"(?P<level>error|warning) (?P<code>TS\d{1,6}): (?P<text>.*)$"
)
_DRIVE = re.compile(r"(?:Error: |Warning: |ERROR in |WARNING in )?(?P<drive>[A-Za-z]):(?=[\\/])")
_BARE = re.compile(r"(?P<level>error|warning) (?P<code>TS\d{1,6}): (?P<text>.+)$")
_PLACE = re.compile(
    r"(?:(?:\[tsl\] )?(?P<level>ERROR|WARNING) in )?(?P<file>\S.*?)"
    r"(?:\((?P<line>\d{1,9}),(?P<col>\d{1,9})\)|:(?P<line2>\d{1,9}):(?P<col2>\d{1,9}))$"
)
_CODED = re.compile(r"(?: *(?P<code>TS\d{1,6})|Type error): (?P<text>.+)$")
_END = re.compile(r"Found \d+ errors? in (?:\d+ files\.|the same file, starting at: .+:\d+|.+:\d+)$")


class Tsc(Rows):
    """Rows of the TypeScript compiler; a row that names no file (of the configuration) has the file ""."""

    starts: ClassVar[tuple[str, ...]] = (
        *("error TS", "warning TS", "Found ", "Error: ", "Warning: ", "ERROR in ", "WARNING in ", "[tsl] "),
    )
    patterns: ClassVar[tuple[str, ...]] = (PAREN_ROW, ROW_LIKE)

    def __init__(self) -> None:
        super().__init__()
        self._place: re.Match[str] | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        place, self._place, self.holding = self._place, None, False
        if place and (coded := _CODED.match(line)):
            return self._row(place, coded)
        drive = _DRIVE.match(line)
        found = _ROW.match(line, drive.end() if drive else 0)
        if found:
            return self._row(found, found, drive.group("drive") + ":" if drive else "")
        if found := _BARE.match(line):
            return self.add(
                Diagnostic(
                    tool="tsc",
                    file="",
                    code=found.group("code"),
                    message=found.group("text").strip(),
                    severity=found.group("level"),
                )
            )
        if _END.match(line):
            self.ended = True
            return True
        self._place = _PLACE.match(line)
        self.holding = self._place is not None
        return False

    def _row(self, place: re.Match[str], said: re.Match[str], drive: str = "") -> bool:
        return self.add(
            Diagnostic(
                tool="tsc",
                file=relative(drive + place.group("file")),
                line=int(place.group("line") or place.group("line2")),
                col=int(place.group("col") or place.group("col2")),
                code=said.group("code"),
                message=said.group("text").strip(),
                severity=(place.group("level") or "error").lower(),
            )
        )

    def found(self, exit_code: int | None) -> Found:
        """The rows."""
        self._place, self.holding = None, False
        return super().found(exit_code)
