"""prettier --check and --list-different, versions 1 to 3.

Layout: prettier's `src/cli/format.js` and `src/cli/logger.js`: every line of a warning or an error has the prefix
`[warn] ` or `[error] `. Other tools print those too, so rows count only if something else says that it was prettier.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import PATH_LINE, Found, Rows
from bot.logs.paths import relative

_SIGN = re.compile(
    r"Checking formatting\.\.\.$|All matched files use Prettier code style!$"
    r"|(?:\[warn\] )?Code style issues (?:found|fixed) in |Error occurred when checking code style in "
)
_CLOSING = re.compile(r"(?:\[warn\] )?(?:Code style issues|All matched|Error occurred)")
_BANNER = re.compile(r"[>$] (?!\d+ \|)(?P<command>\S.*)$")
_CALLED = re.compile(r"(?:\S*/)?prettier(?:@\S+)?$")
_HOOK = "- hook id: "
_LISTS = {"-l", "--list-different"}
_ELSE = {"-c", "--check", "-w", "--write"}
_FILE = re.compile(r"(?:\S+|\S.*\.\w{1,12})$")
_LISTED = re.compile(
    r"(?![/\\]|[A-Za-z]:|(?:npm|yarn|error|info|warning) )(?:[^\s:]*[./][^\s:]*(?<![.])|[^\s:][^:]*\.\w{1,12})$"
)
_ERROR = re.compile(
    r"(?P<file>\S.*?): (?P<text>\w*(?:Error|Exception): .*?)(?: \((?P<line>\d{1,9}):(?P<col>\d{1,9})\))?$"
)
_PLACE = re.compile(r".* \((?P<line>\d{1,9}):(?P<col>\d{1,9})\)$")
_FRAME = re.compile(r"> *(?P<line>\d{1,9}) \|")
_PARSER = re.compile(r"(?P<text>No parser could be inferred for file)(?:: | \")(?P<file>.+?)\"?\.?$")


class Prettier(Rows):
    """Files that prettier would change (a `[warn]` line, or a bare path of `--list-different`) or cannot read."""

    starts: ClassVar[tuple[str, ...]] = (
        *("[warn] ", "[error] ", "Checking formatting...", "All matched files use ", "Error occurred when "),
        *("Code style issues ", "> ", "$ ", _HOOK),
    )
    patterns: ClassVar[tuple[str, ...]] = (PATH_LINE,)

    def __init__(self) -> None:
        super().__init__()
        self._sure = False
        self._lists = False
        self._open = False

    def feed(self, line: str) -> bool:
        """Take one line."""
        if sign := _SIGN.match(line):
            self._sure, self._open = True, False
            self.ended = self.ended or bool(_CLOSING.match(line))
            self._list(sign[0].startswith("Checking"))
            return True
        if line.startswith("[warn] "):
            return self._warned(line[7:])
        if line.startswith("[error] "):
            return self._failed(line[8:])
        if banner := _BANNER.match(line):
            self._asked(banner.group("command"))
            return False
        if line.startswith(_HOOK):  # pre-commit's runs --write --list-different
            self._list(line.startswith(_HOOK + "prettier"))
            self._sure = self._sure or self._lists
            return False
        return self._lists and self._listed(line)

    def _asked(self, command: str) -> None:
        """The command line, as package managers print it before they run it."""
        lists = False
        for part in re.split(r"[;&|]+", command):
            words = set(part.split())
            if any(_CALLED.match(word) for word in words):
                self._sure = True
                lists = lists or bool(words & _LISTS and not words & _ELSE)
        self._list(lists)

    def _list(self, lists: bool) -> None:
        """Whether bare paths are files that would change: --list-different, and --check before version 2.3."""
        self._lists = self.holding = lists

    def _listed(self, line: str) -> bool:
        if not _LISTED.match(line):
            self.holding = self.holding and not line.strip()
            return False
        return self.add(Diagnostic(tool="prettier", file=relative(line), message="not formatted"))

    def _warned(self, text: str) -> bool:
        self._open = False
        if not _FILE.match(text) or text.endswith((".", ":")):
            return self._sure
        self._list(False)
        return self.add(Diagnostic(tool="prettier", file=relative(text), message="not formatted", severity="warning"))

    def _failed(self, text: str) -> bool:
        """The first line of an error names the file; the place is at the end of its message, or marked in the frame."""
        if found := _PARSER.match(text):
            return self.add(Diagnostic(tool="prettier", file=relative(found["file"]), message=found["text"]))
        if self._open:
            if place := _PLACE.match(text):
                self._placed(int(place["line"]), int(place["col"]))
            elif frame := _FRAME.match(text):
                self._placed(int(frame["line"]), None)
            if self._open and not _ERROR.match(text):
                return True
        if found := _ERROR.match(text):
            before = len(self.rows)
            self.add(Diagnostic(tool="prettier", file=relative(found["file"]), message=found["text"]))
            self._open = len(self.rows) > before
            if self._open and found["line"]:
                self._placed(int(found["line"]), int(found["col"]))
            return True
        return self._sure

    def _placed(self, line: int, col: int | None) -> None:
        self.rows[-1] = replace(self.rows[-1], line=line, col=col)
        self._open = False

    def found(self, exit_code: int | None) -> Found:
        """The rows, if prettier printed them."""
        return super().found(exit_code) if self._sure else Found()
