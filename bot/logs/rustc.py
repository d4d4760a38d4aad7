"""rustc and clippy: a headline, `--> file:line:col`, and somewhere below it the name of the lint; ty prints the same.

Forms: rustc_errors' HumanEmitter and --error-format=short; a lint's name is shown with its first warning only, so that
the further ones take it from there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.once import OnceRows
from bot.logs.parser import ROW_LIKE, Found
from bot.logs.paths import relative

_LEVELS = r"(?P<level>error|warning)(?:: internal compiler error)?(?:\[(?P<code>[\w:-]++)\])?: (?P<text>.+)$"
_HEAD = re.compile(_LEVELS)
_ARROW = re.compile(r" *(?:-->|╭▸) (?P<file>.+?):(?P<line>\d{1,9}):(?P<col>\d{1,9})$")
_SHORT = re.compile(rf"(?P<file>[^:]+\.(?:rs|toml)):(?P<line>\d{{1,9}}):(?P<col>\d{{1,9}}): {_LEVELS}")
_NOTE = re.compile(
    r" *(?:=|╰) (?:note|help): (?:requested on the command line with |to override `[^`]*` add )?"
    r"`(?:#!?\[(?:warn|deny|forbid|allow|expect)\((?P<attribute>[\w:]+)\)\]|-[WDFA] ?(?P<flag>[\w:-]+))`"
)
_URL = re.compile(r"rust-clippy/[^/\s]+/(?:index\.html)?#/?(?P<lint>\w+)")
_LEVEL_NOTE = "note: the lint level is defined here"
_SOURCE = re.compile(r" *\d+ +(?:\||│) ?#!?\[")
_CARETS = re.compile(r"[ |│]*(?P<carets>[\^━]+)")
_END = re.compile(r"(?:error: (?:could not compile|aborting due to)|warning: .* generated \d+ warnings?|    Finished )")
_QUOTED = re.compile(r"`[^`]*`|\d+")
_MOST_BEFORE_ARROW = 25

_LINTS = tuple(
    (re.compile(pattern), lint)
    for pattern, lint in (
        (r"unused imports?\b|the item .* is imported redundantly", "unused_imports"),
        (r"unused variable|variable .* is assigned to, but never used", "unused_variables"),
        (r"(?:value|argument) (?:captured by|assigned to|passed to) .* is never read", "unused_assignments"),
        (r"variable does not need to be mutable", "unused_mut"),
        (r"unused (?:.* that must be used|return value of .* that must be used)", "unused_must_use"),
        (r".* (?:is|are) never (?:used|read|constructed)", "dead_code"),
        (r"unreachable (?:statement|expression|call|block|definition)", "unreachable_code"),
        (r"unreachable pattern", "unreachable_patterns"),
        (r"unnecessary parentheses", "unused_parens"),
        (r"unnecessary braces", "unused_braces"),
        (r"unnecessary `unsafe` block", "unused_unsafe"),
        (r"unused macro", "unused_macros"),
        (r"unused doc comment", "unused_doc_comments"),
        (r".* should have a snake case name", "non_snake_case"),
        (r".* should have an upper camel case name", "non_camel_case_types"),
        (r".* should have an upper case name", "non_upper_case_globals"),
        (r"use of deprecated", "deprecated"),
        (r"missing documentation for", "missing_docs"),
        (r"comparison is useless due to type limits", "unused_comparisons"),
        (r"function cannot return without recursing", "unconditional_recursion"),
    )
)
"""Lints of rustc whose name is often not shown, by the words of their message (rustc_lint/messages.ftl)."""


class Rustc(OnceRows):
    """Diagnostics of rustc's human output; those without a place are the compiler's own summary."""

    starts: ClassVar[tuple[str, ...]] = ()
    patterns: ClassVar[tuple[str, ...]] = (r"(?:error|warning)(?:\[|: )", r"    Finished ", ROW_LIKE)

    def __init__(self) -> None:
        super().__init__()
        self._head: re.Match[str] | None = None
        self._lines = 0
        self._open = False
        self._keep = False
        self._level_note = False
        self._source: str | None = None
        self._lints: dict[str, str] = {}

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._head is not None and self._open:
            if line and not line[0].isalpha():
                return self._inside(line)
            if line.startswith(("note: ", "help: ")):
                self._level_note = line == _LEVEL_NOTE
                return True
        elif self._head is not None and (found := _ARROW.match(line)):
            return self._place(found)
        found = _HEAD.match(line)
        if found:
            self._close()
            if _END.match(line):
                self.ended = True
                return False
            self._head, self._lines, self.holding = found, 0, True
            return False
        if self._head is not None:
            self._lines += 1
            if self._open or line[:1] != " " or self._lines > _MOST_BEFORE_ARROW:
                self._close()
            return False
        return self._short(line)

    def _place(self, found: re.Match[str]) -> bool:
        head = self._head
        if head is None:
            return False
        self._open = True
        row = _row(head, found)
        self._keep = self.add_once(row)
        return True

    def _inside(self, line: str) -> bool:
        """The lines under the arrow: source, labels, notes."""
        if not self._keep or self.rows[-1].code is not None:
            return True
        if found := _NOTE.match(line):
            lint = found.group("attribute") or found.group("flag")
            self._name(lint.replace("-", "_"))
        elif found := _URL.search(line):
            self._name(f"clippy::{found.group('lint')}")
        elif self._level_note and _SOURCE.match(line):
            self._source = line
        elif self._source is not None and (found := _CARETS.match(line)):
            named = self._source[found.start("carets") : found.end("carets")]
            self._level_note, self._source = False, None
            if re.fullmatch(r"[\w:]+", named) and named not in ("warnings", "unused"):
                self._name(named)
        return True

    def _name(self, lint: str) -> None:
        row = self.rows[-1]
        tool = "clippy" if lint.startswith("clippy::") else row.tool
        self.rows[-1] = replace(row, code=lint, tool=tool)
        self._lints.setdefault(_shape(row.message), lint)

    def _short(self, line: str) -> bool:
        if _END.match(line):
            self.ended = True
        found = _SHORT.match(line)
        if found is None:
            return False
        self.add_once(_row(found, found))
        return True

    def _close(self) -> None:
        self._head = self._source = None
        self._open = self._keep = self._level_note = self.holding = False

    def found(self, exit_code: int | None) -> Found:
        """The rows; those that showed no name take that of their like."""
        self._close()
        self.rows = [row if row.code else replace(row, code=self._known(row)) for row in self.rows]
        return super().found(exit_code)

    def _known(self, row: Diagnostic) -> str | None:
        learnt = self._lints.get(_shape(row.message))
        if learnt or row.tool != "rustc":
            return learnt
        return next((lint for pattern, lint in _LINTS if pattern.match(row.message)), None)


def _shape(message: str) -> str:
    return _QUOTED.sub("`", message)


def _row(head: re.Match[str], place: re.Match[str]) -> Diagnostic:
    file = relative(place.group("file"))
    return Diagnostic(
        tool="ty" if file.endswith((".py", ".pyi")) else "rustc",
        file=file,
        line=int(place.group("line")),
        col=int(place.group("col")),
        code=head.group("code"),
        message=head.group("text").rstrip(),
        severity=head.group("level"),
    )
