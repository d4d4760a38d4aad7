"""`cargo nextest run`: a status row for each test, its output below the row (or, final, below the summary).

Forms: nextest-runner/src/reporter/displayer; output is indented since 0.9.95, `--- STDOUT: ... ---` before 0.9.80.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.rust_panic import read_test

_STATUS = re.compile(
    r" *(?:TRY (?P<attempt>\d+) )?(?P<word>[A-Z][A-Z+-]*(?: \d+)?(?:/\d+)?) +\[[ >]*[\d.]+s?\] "
    r"(?:\([^)]*\) )?(?P<binary>\S+) +(?P<name>\S.*)$"
)
_OLD_OUTPUT = re.compile(r"--- (?:TRY \d+ )?(?P<stream>STDOUT|STDERR|OUTPUT): +(?P<binary>\S+) +(?P<name>.+?) ---$")
_NEW_OUTPUT = re.compile(r"(?: +|─+ )(?:stdout|stderr|output) ─+$")
_SUMMARY = re.compile(r" +Summary \[[ >]*[\d.]+s\] +(?P<ran>\d+)(?:/\d+)? tests? run:")
_PASSING = ("PASS", "LEAK", "FLAKY", "SLOW", "TERMINATING", "SKIP", "START", "RUNNING", "SETUP", "DELAY", "RETRY")
_FRAME = re.compile(r"─{4,}|-{12}$")
_MOST_LINES = 2000


@dataclass
class _Test:
    """One test: `word` is its last status, `lines` what its last attempt printed."""

    binary: str
    word: str = ""
    lines: list[str] = field(default_factory=list)
    fresh: bool = True
    final: bool = True


class Nextest:
    """Push parser from `Starting N tests` to the end of the run."""

    starts: ClassVar[tuple[str, ...]] = ("    Starting ", " Nextest run", "────", "error: test run failed")
    patterns: ClassVar[tuple[str, ...]] = (
        r" +Summary \[",
        r" *(?:TRY \d+ )?[A-Z][A-Z+-]+(?: \d+/\d+)? +\[[ >]*[\d.]+s?\] ",
    )

    def __init__(self) -> None:
        self.holding = False
        self._tests: dict[tuple[str, str], _Test] = {}
        self._now: _Test | None = None
        self._shows = False
        self._summed = False
        self._ended = False
        self._dropped = 0

    def feed(self, line: str) -> bool:
        """Take one line."""
        if line.startswith(("    Starting ", " Nextest run")):
            self.holding, self._summed, self._now = True, False, None
            return True
        if found := _SUMMARY.match(line):
            self.holding = self._summed = self._ended = True
            self._now = None
            return True
        if found := _STATUS.match(line):
            return self._status(found)
        if not self.holding:
            return False
        if line.startswith("error: ") and self._summed:
            self.holding = False
            return line.startswith("error: test run failed")
        return self._output(line)

    def _status(self, found: re.Match[str]) -> bool:
        word, key = found.group("word"), (found.group("binary"), found.group("name"))
        if key not in self._tests:
            if len(self._tests) >= MOST_IDS:
                self._dropped += 1
                return True
            self._tests[key] = _Test(key[0])
        test = self._tests[key]
        if not word.startswith(("SLOW", "TERMINATING", "START", "RUNNING", "DELAY", "RETRY")):
            test.word, test.final = word, "(──" not in found.group()
        test.fresh = True
        self._now, self._shows = test, False
        self.holding = True
        return True

    def _output(self, line: str) -> bool:
        if found := _OLD_OUTPUT.match(line):
            self._now = self._tests.get((found.group("binary"), found.group("name")), self._now)
            if self._now is not None and found.group("stream") != "STDERR":
                self._now.fresh = True
            self._shows = True
            return True
        if _FRAME.match(line):
            self._now = None
            return True
        if _NEW_OUTPUT.match(line):
            self._shows = True
            return True
        if self._now is None or not (self._shows or line.lstrip().startswith("(test ")):
            if self._summed and line and line[0] != " ":
                self.holding = False
                return False
            return True
        if self._now.fresh:
            self._now.lines, self._now.fresh = [], False
        if len(self._now.lines) < _MOST_LINES:
            self._now.lines.append(line.removeprefix("    "))
        return True

    def found(self, exit_code: int | None) -> Found:
        """Tests whose last attempt failed, in the order in which they first did."""
        failed = {
            key: test
            for key, test in self._tests.items()
            if test.word and not test.word.startswith(_PASSING) and (test.final or self._ended)
        }
        failures = [
            read_test("nextest", name, test.lines, own=_file(binary), error=_crashed(test.word), why=test.word)
            for (binary, name), test in list(failed.items())[:MOST]
        ]
        ids = {name for _, name in failed}
        return Found(
            findings=tuple(failures),
            passed=frozenset(name for (_, name), test in self._tests.items() if test.word == "PASS") - ids,
            ended=self._ended,
            dropped=self._dropped + max(0, len(failed) - MOST),
        )


def _file(binary: str) -> str | None:
    """The file of an integration test's binary id, `package::name`."""
    _, colons, target = binary.partition("::")
    return f"tests/{target}.rs" if colons and "/" not in target else None


def _crashed(word: str) -> bool:
    return not word.startswith("FAIL")
