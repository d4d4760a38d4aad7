"""GitHub's own workflow commands as a tool prints them: `::error file=a.py,line=3,col=1,title=T::message`.

A job's log shows them as `##[error]message`, without the place; in our own sandbox they come out whole.
Escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import Rows
from bot.logs.paths import relative

COMMAND = re.compile(r"::(?P<level>error|warning|notice)(?: (?P<properties>[^:]*(?::(?!:)[^:]*)*))?::(?P<text>.*)$")
_ECHO = re.compile(r"^(?:[^:\s]+:\d+(?::\d+)?: )?(?:(?P<code>[A-Z]{1,7}\d{1,6}|invalid-syntax):? )?")
_CODED = re.compile(r"\((?P<code>[A-Za-z][\w/@.-]*)\)$")


class Annotations(Rows):
    """`::error file=...::` rows that name a file."""

    starts: ClassVar[tuple[str, ...]] = ("::error ", "::warning ")

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = COMMAND.match(line)
        if found is None or found.group("level") == "notice":
            return False
        given = _properties(found.group("properties") or "")
        if not given.get("file"):
            return False
        text = unescaped(found.group("text"))
        titled = _CODED.search(given.get("title", ""))
        echo = _ECHO.match(text)
        code = titled.group("code") if titled else None
        if echo and (code is None or echo.group("code") == code):
            code = code or echo.group("code")
            text = text[echo.end() :] or text
        row = Diagnostic(
            tool=_tool(given.get("title", "")),
            file=relative(given["file"]),
            line=_number(given.get("line")),
            col=_number(given.get("col")),
            code=code,
            message=text.split("\n")[0].strip(),
            severity=found.group("level"),
        )
        return self.add(row)


def unescaped(text: str) -> str:
    """Undo GitHub's escapes."""
    for escape, char in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def _properties(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {key.strip(): unescaped(value) for key, _, value in pairs}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def _tool(title: str) -> str:
    word = title.split(" ", 1)[0].lower()
    return word if word in ("ruff", "flake8", "pylint", "mypy", "eslint", "pyright") else "annotation"
