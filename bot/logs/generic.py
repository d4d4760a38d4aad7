"""The last resort: `path:line:col: message` rows of tools that have no file of their own here."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import ROW_LIKE, Rows
from bot.logs.paths import inside, relative

_ROW = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?(?:[^\s:]|(?<=\S) (?=\S))+\.\w{1,8}):(?P<line>\d{1,9}):(?:(?P<col>\d{1,9}):?)? +"
    r"(?:(?P<level>[Ee]rror|[Ww]arning|ERROR|WARNING|fatal error|[Nn]ote|[Ii]nfo|[Hh]elp)\b:? *)?(?P<text>\S.*)$"
)
_CODES = (
    re.compile(r"^\[(?P<code>[\w./@-]+)\] (?P<text>.+)$"),
    re.compile(r"^(?P<code>[A-Z]{1,6}\d{1,6}):? (?P<text>.+)$"),
    re.compile(r"^(?P<text>.+?) +[(\[](?P<code>[\w@.-]+(?:[/:-][\w.-]+)*)[)\]]$"),
)


class Generic(Rows):
    """Rows with a file that has an extension, a line, and a column or the word error or warning; no tool is claimed."""

    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE,)

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line)
        if found is None or (found.group("col") is None and found.group("level") is None):
            return False
        level = (found.group("level") or "error").lower()
        file = relative(found.group("file"))
        if level in ("note", "info", "help") or not inside(file):
            return False
        text, code = found.group("text").strip(), None
        for pattern in _CODES:
            if coded := pattern.match(text):
                text, code = coded.group("text"), coded.group("code")
                break
        row = Diagnostic(
            tool="generic",
            file=file,
            line=int(found.group("line")),
            col=int(found.group("col")) if found.group("col") else None,
            code=code,
            message=text,
            severity="warning" if level == "warning" else "error",
        )
        self.add(row)
        return False
