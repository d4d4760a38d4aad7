"""Rows of the Go compiler, `go vet`, staticcheck and golangci-lint: `x.go:1:2: message (linter)`."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.once import OnceRows
from bot.logs.parser import ROW_LIKE
from bot.logs.paths import relative

_ROW = re.compile(
    r"(?P<vet>vet: )?(?P<file>(?:[A-Za-z]:[\\/])?[^:]+\.(?:go|s)):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?: "
    r"(?P<text>.+)$"
)
_TAB = re.compile(
    r"(?P<file>[^:]+\.go):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))? {2,}(?P<code>[a-z]\w+) {2,}(?P<text>\S.*)$"
)
_CODE = re.compile(r"^(?P<text>.*\S) +\((?P<code>[A-Za-z]\w*(?:[/-]\w+)*)\)$")
_HEADER = re.compile(r"# (?:\[)?[\w./~-]+\]?(?: \[[\w./~ -]+\])?$")


class GoVet(OnceRows):
    """Rows at the margin; a row without a column is one only under its package's `# header`."""

    starts: ClassVar[tuple[str, ...]] = ("# ", "vet: ")
    patterns: ClassVar[tuple[str, ...]] = (ROW_LIKE,)

    def __init__(self) -> None:
        super().__init__()
        self._tool: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        if line.startswith("# "):
            if _HEADER.match(line):
                self._tool = "govet" if line.startswith("# [") else "go"
            return False
        row = go_row(line, headed=self._tool)
        if row is None:
            if not line.startswith(("\t", " ")):
                self._tool = None
            return False
        self.add_once(row)
        return True


def go_row(line: str, *, headed: str | None) -> Diagnostic | None:
    """A compiler's or linter's row; `headed` is the tool of the `# package` header above it, None without one."""
    found = _ROW.match(line) or _TAB.match(line)
    if found is None:
        return None
    given = found.groupdict()
    if given["col"] is None and headed is None and not given.get("vet") and not _CODE.match(given["text"]):
        return None
    text, code = given["text"].rstrip(), given.get("code")
    if text == "too many errors" or text.startswith(("warning: ", "error: ", "note: ")):
        return None
    coded = None if code or headed else _CODE.match(text)
    if coded and _names_a_linter(coded.group("code")):
        text, code = coded.group("text"), coded.group("code")
    return Diagnostic(
        tool="govet" if given.get("vet") else "golangci-lint" if code else headed or "go",
        file=_shown(given["file"]),
        line=int(given["line"]),
        col=int(given["col"]) if given["col"] else None,
        code=code,
        message=text,
    )


def _names_a_linter(word: str) -> bool:
    """`errcheck`, `SA4006`, `gosec/G104`; not the type or the name that a compiler's message ends with."""
    return word.islower() or re.fullmatch(r"[A-Z]{1,3}\d{4}|[a-z]+[/-]\w+", word) is not None


def _shown(file: str) -> str:
    path = relative(file)
    while path.startswith("../"):
        path = path[3:]
    return path
