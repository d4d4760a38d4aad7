"""What Python's doctest module prints by itself (`python -m doctest`); under pytest it is pytest's."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.parser import MOST, Found
from bot.logs.paths import inside, relative
from bot.logs.trace import Trace

_STARS = re.compile(r"\*{70}$")
_PLACE = re.compile(r'File "(?P<file>.+)", line (?P<line>\d{1,9}|\?), in (?P<name>.+)$')
_END = re.compile(r"\d+ items? had failures:|\*\*\*Test Failed\*\*\*|\d+ (?:passed and \d+ failed|tests? in \d+ items)")
_PARTS = ("Failed example:", "Expected:", "Got:", "Expected nothing", "Exception raised:", "Got nothing")


class Doctest:
    """Push parser over doctest's report: one Failure a docstring, its first failing example."""

    starts: ClassVar[tuple[str, ...]] = ("**********",)
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._failures: dict[str, Failure] = {}
        self._place: tuple[str, int | None, str] | None = None
        self._parts: dict[str, list[str]] = {}
        self._part: str | None = None
        self.dropped = 0

    def feed(self, line: str) -> bool:
        """Take one line."""
        if _STARS.match(line):
            self._finish()
            self.holding = True
            return True
        if not self.holding:
            return False
        if self._place is None:
            found = _PLACE.match(line)
            if found:
                number = int(found.group("line")) if found.group("line").isdigit() else None
                self._place = (found.group("file"), number, found.group("name"))
                return True
            self.holding = False
            return bool(_END.match(line))
        if line.rstrip() in _PARTS:
            self._part = line.rstrip().rstrip(":")
            self._parts[self._part] = []
        elif self._part and (line.startswith("    ") or not line) and len(self._parts[self._part]) < 300:
            self._parts[self._part].append(line[4:][:4000])
        return True

    def _finish(self) -> None:
        place, parts = self._place, self._parts
        self._place, self._parts, self._part = None, {}, None
        if place is None or place[2] in self._failures:
            return
        if len(self._failures) >= MOST:
            self.dropped += 1
            return
        self._failures[place[2]] = _failure(place, parts)

    def found(self, exit_code: int | None) -> Found:
        """Every failing docstring."""
        self._finish()
        return Found(findings=tuple(self._failures.values()), dropped=self.dropped)


def _failure(place: tuple[str, int | None, str], parts: dict[str, list[str]]) -> Failure:
    file = relative(place[0])
    text = {name: "\n".join(lines).strip("\n") for name, lines in parts.items()}
    trace = Trace()
    for line in parts.get("Exception raised", ()):
        trace.feed(line)
    message = trace.exception()[0]
    return Failure(
        tool="doctest",
        id=place[2],
        kind=FailureKind.FAILED,
        file=file,
        line=place[1],
        crash=Location(file=file, line=place[1]) if inside(file) else None,
        source=text.get("Failed example"),
        assertion=message,
        message=message,
        expected=text.get("Expected"),
        actual=text.get("Got"),
    )
