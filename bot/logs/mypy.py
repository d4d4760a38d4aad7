"""mypy: plain and pretty output, whose messages may run over lines (JSON is read in jsonout.py)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Found, Rows
from bot.logs.paths import relative

_ROW = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:]+?)(?::(?P<line>\d{1,9})(?::(?P<col>\d{1,9})(?::\d+:\d+)?)?)?: "
    r"(?P<level>error|warning|note):(?: (?P<text>.*))?$"
)
_CODE = re.compile(r"^(?P<text>.*?)\s*\[(?P<code>[a-z][a-z0-9-]*)\]$", re.DOTALL)
_END = re.compile(r"Found \d+ errors? in \d+ files?|Success: no issues found")
_WRAPPED = 14


class Mypy(Rows):
    """Rows of mypy; notes explain rows and are none themselves."""

    starts: ClassVar[tuple[str, ...]] = ("Found ", "Success: no issues")
    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE,)

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] | None = None
        self.holding = False

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line)
        if found and (found.group("line") or found.group("file").endswith((".py", ".pyi"))):
            self._give_up()
            return self._row(found)
        if _END.match(line):
            self._give_up()
            self.ended = True
            return True
        return self._wrapped(line)

    def _row(self, found: re.Match[str]) -> bool:
        if found.group("level") == "note":
            return True
        text = (found.group("text") or "").rstrip()
        coded = _CODE.match(text)
        row = Diagnostic(
            tool="mypy",
            file=relative(found.group("file")),
            line=int(found.group("line")) if found.group("line") else None,
            col=int(found.group("col")) if found.group("col") else None,
            code=coded.group("code") if coded else None,
            message=coded.group("text") if coded else text,
            severity=found.group("level"),
        )
        before = len(self.rows)
        self.add(row)
        if coded is None and len(self.rows) > before:
            self._open = [text] if text else []
            self.holding = True
        return True

    def _wrapped(self, line: str) -> bool:
        """A message broken at the terminal's width goes on until its `[code]`; without one it was not broken."""
        if self._open is None:
            return False
        apart = line[:1] == " " and not _CODE.match(line.strip())
        if not line or apart or len(self._open) > _WRAPPED:
            self._give_up()
            return False
        self._open.append(line.strip())
        coded = _CODE.match(" ".join(self._open))
        if coded:
            self.rows[-1] = replace(self.rows[-1], message=coded.group("text"), code=coded.group("code"))
            self._give_up()
        return True

    def _give_up(self) -> None:
        self._open = None
        self.holding = False

    def found(self, exit_code: int | None) -> Found:
        """The rows."""
        self._give_up()
        return super().found(exit_code)
