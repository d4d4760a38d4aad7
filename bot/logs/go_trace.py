"""Go's goroutine traces: what a panic, a fatal error, a time-out or the race detector prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.logs.paths import inside, relative

GOROUTINE = re.compile(r"\s*goroutine \d+ .*\[(?P<state>[^\]]*)\]:$")
_PLACE = re.compile(r"\s+(?P<file>\S.*?):(?P<line>\d{1,9})(?: \+0x[0-9a-f]+)?$")
_CREATED = re.compile(r"\s*created by (?P<name>.+?)(?: in goroutine \d+)?$")
_CALL = re.compile(r"\s*(?P<name>\S+)\([^()]*\)$")
_TEST = re.compile(r"\.(?P<test>(?:Test|Fuzz|Example|Benchmark)(?![a-z])\w*)(?:\.func[\d.]+|\.gowrap\d+|-fm)*$")
_RUNTIME = ("runtime.", "testing.", "panic", "reflect.", "sync.", "internal/", "syscall.", "os/signal.", "time.")
_MOST = 2000


@dataclass(frozen=True)
class GoFrame:
    """One call: `name` is the function with its package."""

    name: str
    file: str
    line: int

    @property
    def home(self) -> bool:
        """Whether it lies in the repository."""
        vendored = self.file.startswith("vendor/") or "/vendor/" in self.file
        return inside(self.file) and not vendored and not self.name.startswith(_RUNTIME)


@dataclass
class Goroutine:
    """Calls innermost first; `created` is the function that started it."""

    state: str = ""
    frames: list[GoFrame] = field(default_factory=list)
    created: str | None = None

    def since_panic(self) -> list[GoFrame]:
        """Without the machinery that a panic runs through before its trace is printed."""
        last = max((i for i, frame in enumerate(self.frames) if frame.name == "panic"), default=-1)
        return self.frames[last + 1 :]

    @property
    def test(self) -> str | None:
        """The test function that this goroutine runs, or was started by."""
        names = [frame.name for frame in self.frames] + ([self.created] if self.created else [])
        tests = [found.group("test") for name in names if (found := _TEST.search(name))]
        return tests[-1] if tests else None


def goroutines(lines: list[str]) -> list[Goroutine]:
    """The goroutines of a dump, in order; a trace without a header (the race detector's) counts as one."""
    found: list[Goroutine] = []
    name: str | None = None
    created = False
    for line in lines[:_MOST]:
        if head := GOROUTINE.match(line):
            found.append(Goroutine(state=head.group("state")))
            name = None
        elif name is not None and (place := _PLACE.match(line)):
            if not found:
                found.append(Goroutine())
            if created:
                found[-1].created = name
            else:
                found[-1].frames.append(GoFrame(name, relative(place.group("file")), int(place.group("line"))))
            name = None
        elif start := _CREATED.match(line):
            name, created = start.group("name"), True
        elif call := _CALL.match(line):
            name, created = call.group("name"), False
        elif not line.strip():
            name = None
    return found
