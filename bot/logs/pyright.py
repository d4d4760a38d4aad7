"""pyright and basedpyright, text output (JSON is read in jsonout.py)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import COUNTED, ROW_LIKE, Rows
from bot.logs.paths import relative

_ROW = re.compile(
    r"\s*+(?P<file>(?:[A-Za-z]:)?[^:]++):(?P<line>\d{1,9}):(?P<col>\d{1,9}) - "
    r"(?P<level>error|warning|information): (?P<text>.*)$"
)
_RULE = re.compile(r"^(?P<text>.*?) ?\((?P<rule>report\w+)\)$")
_END = re.compile(r"\d+ errors?, \d+ warnings?, \d+ (?:informations?|notes?)")


class Pyright(Rows):
    """Rows of pyright; the rule's name stands at the end of the last line of a message."""

    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE, COUNTED)

    def __init__(self) -> None:
        super().__init__()

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line)
        if found:
            return self._row(found)
        if self.holding and line[:4].isspace():  # pyright indents with no-break spaces
            ruled = _RULE.match(line)
            if ruled:
                self.rows[-1] = replace(self.rows[-1], code=ruled.group("rule"))
                self.holding = False
            return True
        self.holding = False
        if _END.match(line):
            self.ended = True
            return True
        return False

    def _row(self, found: re.Match[str]) -> bool:
        text = found.group("text").rstrip()
        ruled = _RULE.match(text)
        row = Diagnostic(
            tool="pyright",
            file=relative(found.group("file")),
            line=int(found.group("line")),
            col=int(found.group("col")),
            code=ruled.group("rule") if ruled else None,
            message=ruled.group("text") if ruled else text,
            severity=found.group("level"),
        )
        before = len(self.rows)
        self.add(row)
        self.holding = ruled is None and len(self.rows) > before
        return True
