"""The output of one Go package's test binary: which line belongs to which test."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.domain.findings import Failure
from bot.logs.go_failure import Crash, Row, failure
from bot.logs.go_trace import goroutines
from bot.logs.parser import MOST, MOST_IDS

MARKER = re.compile(r"=== (?P<word>[A-Z]+)\s+(?P<name>\S+)")
RESULT = re.compile(r"(?P<indent> *)--- (?P<word>FAIL|PASS|SKIP|BENCH): (?P<name>\S+)(?: \([\d.]+ ?s(?:econds)?\))?$")
_GLUED = re.compile(r"--- (?P<word>FAIL|PASS|SKIP): (?P<name>\S+) \([\d.]+s\)$")
_GLUED_ROW = re.compile(r" {4}[\w.-]+\.go:\d{1,9}: .*$")
_ROW = re.compile(r"(?P<indent> +)(?P<file>[^\s:]+):(?P<line>\d{1,9}): ?(?P<text>.*)$")
_DIES = re.compile(
    r"panic: |fatal error: |SIG[A-Z]+: |unexpected fault address|runtime: (?:goroutine stack exceeds|out of memory)"
)
_RUNNING = re.compile(r"\t+(?P<name>\S+) \([\w.]+\)$")
_IGNORED = re.compile(r"(?:PASS|FAIL)$|exit status \d|coverage: |testing: |signal: |ok  \t|\*\*\* Test killed")
_MOST_LINES = 400


@dataclass
class _Run:
    """One run of one test."""

    name: str
    indent: int = 0
    status: str | None = None
    paused: bool = False
    rows: list[Row] = field(default_factory=list)
    example: list[str] = field(default_factory=list)
    race: list[str] = field(default_factory=list)


class Block:
    """Push reader of the lines of one package; `close` gives its failures."""

    def __init__(self, only: str | None = None) -> None:
        self.only = only
        self.verbose = False
        self._runs: dict[str, _Run] = {}
        self._failed: dict[str, _Run] = {}
        self._now: _Run | None = None
        self._open: list[_Run] = []
        self._row: tuple[int, Row] | None = None
        self._crash: Crash | None = None
        self._died: _Run | None = None
        self._race: list[str] | None = None
        self._last_race: list[str] = []
        self._printed: str | None = None
        self.passed: set[str] = set()
        self.skipped: set[str] = set()

    def select(self, name: str) -> None:
        """The next lines are this test's (known from JSON)."""
        if name in self._runs:
            self._turn(self._runs[name])

    def line(self, line: str) -> None:
        """Take one line of the package's output."""
        if (found := MARKER.match(line)) and found.group("word") != "FAIL":
            self._mark(found.group("word"), found.group("name"))
        elif (found := RESULT.match(line)) and (self._result(found) or found.group("name") == self.only):
            return
        elif self._crash is not None:
            if len(self._crash.lines) < _MOST_LINES * 5:
                self._crash.lines.append(line)
        elif self._race is not None:
            self._racing(line)
        elif line.startswith("WARNING: DATA RACE"):
            self._race = []
        elif not self._logged(line):
            self._margin(line)

    def _mark(self, word: str, name: str) -> None:
        self._crash = None
        if word == "RUN":
            self.verbose = True
            if len(self._runs) < MOST_IDS:
                self._runs[name] = _Run(name)
        run = self._runs.get(name)
        if run is not None:
            run.paused = word == "PAUSE"
            self._turn(run)

    def _turn(self, run: _Run) -> None:
        if run is not self._now:
            self._now, self._row = run, None

    def _result(self, found: re.Match[str]) -> bool:
        """A line with a test's verdict, where one can stand: at the margin, or below the parent's."""
        indent, name, word = len(found.group("indent")), found.group("name"), found.group("word")
        if self.verbose and name not in self._runs:
            return False
        parents = [run for run in self._open if run.indent < indent]
        if indent and not (parents and indent == parents[-1].indent + 4 and _below(name, parents[-1].name)):
            return False
        self._crash = None
        run = self._settle(name, word, indent)
        self._open = [*parents, run]
        return True

    def _settle(self, name: str, word: str, indent: int) -> _Run:
        run = self._runs.get(name)
        if run is None or (run.status is not None and run not in self._open):
            run = _Run(name)
            if len(self._runs) < MOST_IDS:
                self._runs[name] = run
        run.status, run.indent = word, indent
        if word == "FAIL" and len(self._failed) < MOST:
            self._failed.setdefault(name, run)
            run.race, self._last_race = run.race or self._last_race, []
        elif word in ("PASS", "SKIP") and len(self.passed) + len(self.skipped) < MOST_IDS:
            (self.passed if word == "PASS" else self.skipped).add(name)
        self._now, self._row = run, None
        self._died = run if word == "FAIL" else self._died
        return run

    def _logged(self, line: str) -> bool:
        """A row of t.Log or t.Error, or a line that goes on below one."""
        run = self._now
        indent = len(line) - len(line.lstrip(" "))
        if run is None or (line and indent < 4):
            return False
        base = run.indent + 4
        if self._row is not None and (not line or indent >= self._row[0] + 4):
            if len(self._row[1].body) < _MOST_LINES:
                self._row[1].body.append(line[self._row[0] + 4 :])
            return True
        found = _ROW.match(line) if indent == base else None
        if found is None:
            return False
        row = Row(found.group("file"), int(found.group("line")), found.group("text"))
        if len(run.rows) < _MOST_LINES:
            run.rows.append(row)
        self._row = (indent, row)
        return True

    def _margin(self, line: str) -> None:
        """What is neither logged nor a verdict: printed by the test, or the process' last words."""
        self._row = None
        if _DIES.match(line):
            self._crash = Crash(line.rstrip())
        elif (found := _GLUED.search(line)) and (not self.verbose or found.group("name") in self._runs):
            self._open = [self._settle(found.group("name"), found.group("word"), 0)]
        elif self.verbose and (found := _GLUED_ROW.search(line)) and self._now and self._now.status is None:
            self._logged(found.group())
        elif not _IGNORED.match(line):
            run = self._now
            if run is not None and run.name.startswith("Example") and (line == "got:" or run.example):
                if len(run.example) < _MOST_LINES:
                    run.example.append(line)
            elif line.strip():
                self._printed = line.strip()

    def _racing(self, line: str) -> None:
        if line.startswith("====="):
            self._last_race, self._race = self._race or [], None
            if self._now is not None and self._now.status is None:
                self._now.race = self._now.race or self._last_race
        elif self._race is not None and len(self._race) < _MOST_LINES:
            self._race.append(line)

    def only_failed(self) -> None:
        """This block was one test's, told to have failed."""
        if self.only is not None:
            self._settle(self.only, "FAIL", 0)

    def close(self, *, passed: bool, whole: bool = True) -> tuple[list[Failure], str | None]:
        """(failures, what ended the process before it could judge).

        `passed` is the package's own verdict; not `whole`: the log ended before there was one.
        """
        if passed:
            return [], None
        if not whole and self._crash is None:
            self._forget_last()
        died = self._deaths() if whole or self._crash is not None else []
        dead = {name for name, _, _ in died}
        failures = [
            failure(name, run.rows, example=run.example, race=run.race)
            for name, run in self._failed.items()
            if name not in dead and (run.rows or run.example or not self._has_failing_child(name, dead))
        ]
        failures += [
            failure(name, run.rows if run else (), crash=crash, error=error and name not in self._failed)
            for (name, run, crash), error in ((d, self._killed()) for d in died)
        ]
        blocked = None
        if self._crash is not None:
            blocked = self._crash.message
        elif died:
            blocked = died[0][2].message
        return failures, blocked

    def _forget_last(self) -> None:
        """A verdict with nothing below it yet may be that of a parent, whose subtests would have come next."""
        run = self._now
        while run is not None and run.status == "FAIL" and not run.rows and not run.example:
            self._failed.pop(run.name, None)
            run = self._open[-2] if len(self._open) > 1 and self._open[-1] is run else None
            self._open = self._open[:-1]

    def _has_failing_child(self, name: str, dead: set[str]) -> bool:
        return any(other.startswith(name + "/") for other in (*self._failed, *dead))

    def _killed(self) -> bool:
        """The process died on its own, not by the panic of a test that was still reported."""
        crash = self._crash
        return crash is None or not _recovered(crash)

    def _deaths(self) -> list[tuple[str, _Run | None, Crash]]:
        """(name, run, crash) of the tests that went down with the process."""
        running = [run for run in self._runs.values() if run.status is None and not run.paused]
        leaves = [run for run in running if not any(o.name.startswith(run.name + "/") for o in running)][:50]
        crash = self._crash
        if crash is None:
            words = self._printed or "the test process ended before the test did"
            return [(run.name, run, Crash(words)) for run in leaves] if self.verbose and not self._failed else []
        if _recovered(crash) and self._died is not None:
            message = re.sub(r" \[recovered[^\]]*\]$", "", crash.message)
            below = [run for name, run in self._failed.items() if name.startswith(self._died.name + "/")]
            died = next((run for run in reversed(below) if not run.rows), self._died)
            return [(died.name, died, Crash(message, crash.lines))]
        if self.only is not None:
            return [(self.only, self._runs.get(self.only), crash)]
        listed = [found.group("name") for line in crash.lines[:200] if (found := _RUNNING.match(line))]
        if listed and any("running tests:" in line for line in crash.lines[:3]):
            names = [name for name in listed if not any(other.startswith(name + "/") for other in listed)]
        elif leaves and self.verbose:
            names = [run.name for run in leaves]
        else:
            tests = [g.test for g in goroutines(crash.lines) if g.test]
            names = [test for test in dict.fromkeys(tests) if test is not None][:1]
        return [(name, self._runs.get(name), crash) for name in names]


def _recovered(crash: Crash) -> bool:
    again = crash.lines[0] if crash.lines else ""
    return "[recovered" in crash.message or again.startswith("\tpanic: ")


def _below(name: str, parent: str) -> bool:
    return name == parent or name.startswith(parent + "/")
