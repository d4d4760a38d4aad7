"""ruff check: full, concise, old text, grouped, pylint, azure and github output (JSON is read in jsonout.py)."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Rows
from bot.logs.paths import relative

CODE = r"[A-Z]{1,7}\d{1,5}|invalid-syntax|SyntaxError|[a-z]+(?:-[a-z]+)+"
_ROW = re.compile(
    rf"(?P<file>(?:[A-Za-z]:)?[^:]+)(?::cell \d+)?:(?P<line>\d{{1,9}}):(?P<col>\d{{1,9}}): (?P<code>{CODE}):? "
    r"(?:\[\*\] )?(?P<text>.+)"
)
_HEAD = re.compile(rf"(?P<code>{CODE})(?P<colon>:?) (?:\[\*\] )?(?P<text>\S.*)$")
_ARROW = re.compile(r" *--> (?P<file>.+?):(?:cell \d+:)?(?P<line>\d{1,9}):(?P<col>\d{1,9})$")
_GROUP = re.compile(r"(?P<file>\S.*):$")
_MEMBER = re.compile(rf" +(?P<line>\d{{1,9}}):(?P<col>\d{{1,9}}) +(?P<code>{CODE}):? +(?:\[\*\] )?(?P<text>.+)")
_PYLINT = re.compile(rf"(?P<file>[^:]+):(?P<line>\d{{1,9}}): \[(?P<code>{CODE})\] (?P<text>.+)")
_AZURE = re.compile(
    r"##vso\[task\.logissue type=\w+;sourcepath=(?P<file>[^;]+);linenumber=(?P<line>\d{1,9});"
    r"columnnumber=(?P<col>\d{1,9});code=(?P<code>[^;]+);\](?P<text>.+)"
)
_END = re.compile(
    r"Found \d+ errors?(?: \(\d+ fixed, \d+ remaining\))?\.$|All checks passed!$|\[\*\] \d+ (?:potentially )?fixable"
)


class Ruff(Rows):
    """Rows of `ruff check`."""

    starts: ClassVar[tuple[str, ...]] = ("##vso[", "Found ", "All checks passed", "[*] ")
    patterns: ClassVar[tuple[str, ...]] = (
        ROW_LIKE,
        r"(?:[A-Z]{1,7}\d{1,5}|SyntaxError|[a-z]++(?:-[a-z]++)++):? \S",
        r" *+--> \S",
        r" ++\d++:\d++ ",
    )

    def __init__(self) -> None:
        super().__init__()
        self._head: tuple[str, str] | None = None
        self._group: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        head, self._head = self._head, None
        if head and (found := _ARROW.match(line)):
            return self._row(found, *head)
        if self._group and (found := _MEMBER.match(line)):
            return self._row(found, found.group("code"), found.group("text"), self._group)
        found = _ROW.match(line) or _PYLINT.match(line) or _AZURE.match(line)
        if found:
            return self._row(found, found.group("code"), found.group("text"))
        if _END.match(line):
            self.ended = True
            self._group = None
            return True
        if found := _HEAD.match(line):
            self._head = (found.group("code"), found.group("text"))
        elif found := _GROUP.match(line):
            self._group = found.group("file")
        return False

    def _row(self, found: re.Match[str], code: str, text: str, file: str | None = None) -> bool:
        groups = found.groupdict()
        row = Diagnostic(
            tool="ruff",
            file=relative(file or groups["file"]),
            line=int(groups["line"]),
            col=int(groups["col"]) if groups.get("col") else None,
            code="invalid-syntax" if code == "SyntaxError" else code,
            message=text.strip(),
        )
        return self.add(row)
