"""One traceback, in any of the styles that Python's tools print, boiled down to places and the words of the exception.

Styles: pytest's long, short, line and native, unittest's and the interpreter's own. Facts about the layout are from
pytest's `_pytest/_code/code.py` (ExceptionInfo repr classes), unchanged in their essentials from version 3 to 9.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace

from bot.logs.values import exception_name

_PLACE = re.compile(r"((?:[A-Za-z]:)?[^\s:=>][^:\n]*):(\d{1,9}): ?(in .+|[A-Za-z_][\w.]*|)$")
_PLACE_TEXT = re.compile(r"((?:[A-Za-z]:)?[^\s:=>][^:\n]*):(\d{1,9}): (.+)$")
_FILE = re.compile(r'\s*(?:\| *)?File "([^"\n]+)", line (\d{1,9})(?:,? in (.+))?$')
_FIXTURE = re.compile(r"file (.+), line (\d{1,9})$")
_BARE = re.compile(r"((?:[A-Za-z]:)?[^\s:=>][^:\n]*):(\d{1,9})$")
_DEF = re.compile(r"\s+(?:async )?def (\w+)\(")
_CRASHED = re.compile(r"worker '(\w+)' crashed while running '(.+)'$")
_CHAINED = (
    "The above exception was the direct cause of",
    "During handling of the above exception",
)
_FRAMES, _WORDS, _LONGEST = 60, 300, 4000


@dataclass(frozen=True, slots=True)
class Frame:
    """A place on the way to the exception, outermost first; `source` is the line it shows."""

    file: str
    line: int
    name: str | None = None
    source: str | None = None


class Trace:
    """Takes the lines of one traceback, in order; keeps a bounded part of it."""

    def __init__(self) -> None:
        self.first: Frame | None = None
        self.frames: deque[Frame] = deque(maxlen=_FRAMES)
        self.words: list[str] = []
        self.crashed: str | None = None
        self.seen_text: str | None = None
        self._mark: str | None = None
        self._def: str | None = None
        self._native = False
        self._wait_source = False
        self._marked = False
        self._group = False

    def feed(self, line: str) -> None:
        """Take one line of the traceback."""
        head = line[:1]
        if self._group or line.startswith("  + Exception Group Traceback"):
            self._grouped(line)
        elif head == "E" and (len(line) == 1 or line.startswith("E  ") or line == "E "):
            self._word(line[1:])
        elif head == ">" and line[1:4].strip() == "":
            self._mark = line[1:].strip()
        elif head == " ":
            self._indented(line)
        elif line:
            self._flush_left(line)

    def _grouped(self, line: str) -> None:
        """An exception group is drawn as a tree: the outer exception tells the words, the inner ones the detail."""
        if line.startswith("  | "):
            inner = line[4:]
            if inner[:1] == " ":
                self._indented(inner)
            else:
                self._flush_left(inner)
        elif line.startswith("  + Exception Group Traceback"):
            self._group = self._native = True
        elif line.startswith("    ") and line.strip(" |+-0123456789"):
            self._native_word(line.strip(" |"))
        elif line and line[0] != " ":
            self._group = False
            self.feed(line)

    def _word(self, text: str) -> None:
        self._wait_source = False
        if not self._marked:
            self.words.clear()
            self._marked = True
        if len(self.words) < _WORDS:
            self.words.append(text[:_LONGEST])

    def _indented(self, line: str) -> None:
        found = _FILE.match(line) if "File " in line else None
        if found and (self._native or line.startswith('  File "')):
            self._native = True
            self._place(found.group(1), int(found.group(2)), found.group(3))
            self._wait_source = True
        elif self._wait_source and line.strip(" ^~"):
            self.frames[-1] = replace(self.frames[-1], source=line.strip())
            self._wait_source = False
        elif not self._marked and (found := _DEF.match(line)):
            self._def = found.group(1)
        elif self._native and self.words and not self._marked and len(self.words) < _WORDS:
            self.words.append(line[:_LONGEST])

    def _flush_left(self, line: str) -> None:
        if line.startswith(_CHAINED):
            self._restart()
        elif line.startswith("Traceback (most recent call last)"):
            self._native = not self.words
            self._wait_source = False
        elif found := _PLACE.match(line):
            self._located(found)
        elif found := _FIXTURE.match(line) or _BARE.match(line):
            self._place(found.group(1), int(found.group(2)), None)
        elif found := _CRASHED.match(line):
            self.crashed = found.group(2)
            self.words = [line]
        elif self._native and self.frames:
            self._native_word(line)
        else:
            self.seen_text = self.seen_text or line[:_LONGEST]

    def _native_word(self, line: str) -> None:
        self._wait_source = False
        if len(self.words) < _WORDS:
            self.words.append(line[:_LONGEST])

    def _located(self, found: re.Match[str]) -> None:
        rest = found.group(3)
        name = rest[3:] if rest.startswith("in ") else self._def
        self._place(found.group(1), int(found.group(2)), name)
        if rest.startswith("in "):
            self._wait_source = True
        else:
            self.frames[-1] = replace(self.frames[-1], source=self._mark)
        self._mark = self._def = None

    def _place(self, file: str, line: int, name: str | None) -> None:
        frame = Frame(file, line, name)
        self.first = self.first or frame
        self.frames.append(frame)

    def _restart(self) -> None:
        """A chain: only its last exception counts, which is the one that got out."""
        self.first = None
        self.frames.clear()
        self.words.clear()
        self._mark = self._def = None
        self._native = self._wait_source = self._marked = self._group = False

    def exception(self) -> tuple[str | None, list[str]]:
        """First line of the exception and the lines after it, without pytest's `E` margin.

        A SyntaxError shows the place before its words: that place is the innermost frame.
        """
        words = self.words
        if not words:
            return None, []
        margin = len(words[0]) - len(words[0].lstrip())
        found = _FILE.match(words[0])
        if found:
            frame = Frame(found.group(1), int(found.group(2)), None, words[1].strip() if len(words) > 1 else None)
            if not self.frames or (self.frames[-1].file, self.frames[-1].line) != (frame.file, frame.line):
                self.frames.append(frame)
                self.first = self.first or frame
            rest = [w for w in words[1:] if w.strip() and len(w) - len(w.lstrip()) < margin]
            words = rest or words[-1:]
            margin = len(words[0]) - len(words[0].lstrip())
        lines = [word[margin:] if not word[:margin].strip() else word.lstrip() for word in words]
        return lines[0].rstrip(), lines[1:]


def oneline(line: str) -> tuple[Frame, str] | None:
    """`path:3: ValueError: text`, as `--tb=line` prints a whole failure."""
    found = _PLACE_TEXT.match(line)
    return (Frame(found.group(1), int(found.group(2))), found.group(3)) if found else None


def kind_of(message: str | None) -> str | None:
    """Exception type of a message; a bare `assert` is an AssertionError."""
    if message is None:
        return None
    return "AssertionError" if message.startswith("assert ") else exception_name(message)
