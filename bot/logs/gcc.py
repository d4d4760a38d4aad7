"""gcc, g++, clang, clang-tidy and cppcheck, the linkers behind them, and the complaints of make, CMake and MSVC.

Forms: https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html and clang's
TextDiagnostic.cpp; linkers: `file:line: undefined reference` (GNU), `>>> referenced by` (LLD).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.once import OnceRows
from bot.logs.parser import ROW_LIKE
from bot.logs.paths import relative

_EXTENSION = (
    r"(?:c|cc|cpp|cxx|c\+\+|C|h|hh|hpp|hxx|h\+\+|H|m|mm|cu|cuh|cl|ipp|tpp|tcc|txx|ixx|cppm|inl|inc|ino|def|ii?"
    r"|s|S|asm|sx|y|yy|l|ll|re|rl|pyx|glsl|comp|f|F|f90|F90|f95|f03|f08|d|v|sv)"
)
_OURS = re.compile(rf"\.{_EXTENSION}$|/include/")
_ROW = re.compile(
    r"(?P<file>(?:[A-Za-z]:[\\/])?[^:]+):(?P<line>\d{1,9}):(?:(?P<col>\d{1,9}):)? ?"
    r"(?P<level>(?:fatal |internal compiler |sorry, )?[Ee]rror|[Ww]arning|style|performance|portability|note"
    r"|sorry, unimplemented): ?(?P<text>.*)$"
)
_CODE = re.compile(r"^(?P<text>.*\S) \[(?P<code>-W[^\]\s]++|[A-Za-z][\w.,-]++)\]$")
_CWE = re.compile(r" \[CWE-\d+\]$")
_EXPANSION = re.compile(r"in expansion of macro ")
_LINK = re.compile(
    rf"(?:\S*\bld(?:\.\w+)?(?:\.exe)?: )?(?:[^\s:]+\.(?:o|a|obj|lo)(?:\([^)]*\))?:)?"
    rf"(?P<file>[^\s:()]+\.(?:{_EXTENSION}|o)):(?:(?P<line>\d{{1,9}})|\((?P<place>\.[^)]*)\)): "
    r"(?P<text>(?:undefined reference to|multiple definition of|relocation truncated|undefined symbol).*)$"
)
_LLD = re.compile(
    r"(?:\S*\bld(?:\.lld|64\.lld)?|lld-link|wasm-ld): error: (?P<text>(?:undefined|duplicate) symbol: .*)$"
)
_REFERENCED = re.compile(r">>> (?:referenced|defined) (?:by|at) (?P<file>[^\s:()]+)(?::(?P<line>\d{1,9}))?")
_MAKE = re.compile(r"(?P<file>(?:[\w./-]+/)?(?:GNUm|[Mm])akefile|[\w./-]+\.mk):(?P<line>\d{1,9}): \*\*\* (?P<text>.+)$")
_CMAKE = re.compile(r"CMake (?P<level>Error|Warning)(?: \(dev\))? at (?P<file>[^:]+):(?P<line>\d{1,9})(?: \(.*\))?:$")
_MSVC = re.compile(
    r"(?:\d{1,4}>)?(?P<file>[^():]*(?::[\\/][^():]*)?)\((?P<line>\d{1,9})(?:,(?P<col>\d{1,9})(?:-\d+)?)?\)\s?: "
    r"(?:fatal )?(?P<level>error|warning) (?P<code>(?:C|LNK|D|RC)\d{4}): (?P<text>.*)$"
)
_PROJECT = re.compile(r" \[[^\[\]]*proj(?:::[^\[\]]*)?\]$")
_END = re.compile(r"\d+ (?:warnings?|errors?)(?: and \d+ errors?)? generated\.$")
_WAIT = 3


class Gcc(OnceRows):
    """Rows at the margin; the notes under a row only tell where a macro was used."""

    starts: ClassVar[tuple[str, ...]] = ("CMake Error at ", "CMake Warning ", "ld.lld: error: ", ">>> ")
    patterns: ClassVar[tuple[str, ...]] = (
        ROW_LIKE,
        r"[^\s:]*+ld(?:\.\w+)?: ",
        r"[^\s:]++:\(\.",
        r"(?:\d+>)?[^()]++\(\d+(?:,\d+(?:-\d+)?)?\)\s?: (?:fatal )?(?:error|warning) [A-Z]+\d{4}: ",
        r"\d+ (?:warning|error)s?\b.* generated\.$",
    )

    def __init__(self) -> None:
        super().__init__()
        self._fresh = False
        self._waits = 0
        self._symbol: str | None = None

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._waits:
            return self._said(line)
        if (found := _ROW.match(line)) and _OURS.search(found.group("file")):
            return self._row(found)
        if line.startswith(">>> "):
            return self._referenced(line)
        if found := _LINK.match(line):
            return self._linked(found)
        if found := _LLD.match(line):
            self._symbol = found.group("text")
            return True
        if found := _MSVC.match(line) or _MAKE.match(line):
            return self._other(found)
        if found := _CMAKE.match(line):
            return self._other(found)
        if _END.match(line):
            self.ended = True
            return True
        return False

    def _row(self, found: re.Match[str]) -> bool:
        level, text = found.group("level"), found.group("text")
        place = {
            "file": _shown(found.group("file")),
            "line": int(found.group("line")),
            "col": int(found.group("col")) if found.group("col") else None,
        }
        if level == "note":
            expands = _EXPANSION.match(text) is not None
            if expands and self._fresh:
                self.rows[-1] = replace(self.rows[-1], **place)  # type: ignore[arg-type]
            self._fresh = self._fresh and expands
            return True
        text, code = coded(text)
        row = Diagnostic(
            tool="gcc",
            **place,  # type: ignore[arg-type]
            code=code,
            message=text,
            severity="error" if "rror" in level or level.startswith("sorry") else "warning",
        )
        self._fresh = self.add_once(row)
        return True

    def _linked(self, found: re.Match[str]) -> bool:
        row = Diagnostic(
            tool="ld",
            file=_shown(found.group("file")),
            line=int(found.group("line")) if found.group("line") else None,
            message=found.group("text").rstrip(),
        )
        self.add_once(row, found.group("place"))
        return True

    def _referenced(self, line: str) -> bool:
        found = _REFERENCED.match(line)
        if found is None or self._symbol is None:
            return False
        line_number = int(found.group("line")) if found.group("line") else None
        self.add_once(
            Diagnostic(tool="ld", file=_shown(found.group("file")), line=line_number, message=self._symbol), line
        )
        return True

    def _other(self, found: re.Match[str]) -> bool:
        given = found.groupdict()
        level = (given.get("level") or "error").lower()
        cmake = found.re is _CMAKE
        row = Diagnostic(
            tool="cmake" if cmake else "msvc" if given.get("code") else "make",
            file=_shown(given["file"]),
            line=int(given["line"]),
            col=int(given["col"]) if given.get("col") else None,
            code=given.get("code"),
            message=_PROJECT.sub("", given.get("text") or ""),
            severity=level,
        )
        if cmake and self.add(row):
            self._wait(_WAIT if self.dropped == 0 else 0)
        elif not cmake:
            self.add_once(row)
        return True

    def _said(self, line: str) -> bool:
        """CMake's message stands indented on the next lines."""
        self._wait(self._waits - 1)
        if line[:1] == " " and line.strip():
            self.rows[-1] = replace(self.rows[-1], message=line.strip())
            self._wait(0)
        return line[:1] in ("", " ")

    def _wait(self, lines: int) -> None:
        self._waits = lines
        self.holding = lines > 0


def coded(text: str) -> tuple[str, str | None]:
    """(message, code) of `message [-Wcode]`; what only says that a warning is an error is no code of its own."""
    found = _CODE.match(text)
    if found is None:
        return text.rstrip(), None
    parts = [p for p in found.group("code").split(",") if p not in ("-Werror", "-warnings-as-errors")]
    return _CWE.sub("", found.group("text")), ",".join(parts) or found.group("code")


def _shown(file: str) -> str:
    """Relative to the repository; a build directory beside the sources shows them as `../src/x.c`."""
    path = relative(file)
    while path.startswith("../"):
        path = path[3:]
    return path
