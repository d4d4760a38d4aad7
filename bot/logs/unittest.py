"""unittest's text runner (Django's and nose2's are the same), and what doctest prints by itself."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import inside, relative
from bot.logs.trace import Frame, Trace, kind_of
from bot.logs.values import compared

_DOUBLE = re.compile(r"={70}$")
_SINGLE = re.compile(r"-{70}$")
_HEAD = re.compile(r"(?P<word>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>.+)$")
_NAME = re.compile(r"(?P<test>\S+) \((?P<scope>[^()\s]+)\)(?P<rest>.*)$")
_VERBOSE = re.compile(r"(?P<name>\w+ \([\w.]+\))(?:.*)? \.\.\. (?P<word>ok|skipped .*|FAIL|ERROR|expected failure)$")
_STARTED = re.compile(r"\w+ \([\w.]+\)$")
_DESCRIBED = re.compile(r".* \.\.\. (?P<word>ok|skipped .*|FAIL|ERROR|expected failure)$")
_RAN = re.compile(r"Ran (\d{1,9}) tests? in [\d.]+s")
_END = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?$")
_HOOKS = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")


class Unittest:
    """Push parser over unittest's report."""

    starts: ClassVar[tuple[str, ...]] = ("==========", "----------", "Ran ")
    patterns: ClassVar[tuple[str, ...]] = (r"\w++ \([\w.]++\)",)

    def __init__(self) -> None:
        self.holding = False
        self._state = "idle"
        self._trace: Trace | None = None
        self._failures: list[Failure] = []
        self._head: tuple[str, str] | None = None
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._name: str | None = None
        self._captured: list[str] | None = None
        self._ran: int | None = None
        self._dropped = 0

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._state == "idle":
            return self._idle(line)
        if _DOUBLE.match(line):
            self._finish()
            self._enter("ruled")
            return True
        if self._state == "ruled":
            return self._title(line)
        if _SINGLE.match(line):
            if self._state == "title" and self._trace is None:
                self._trace = Trace()
                self._enter("trace")
            else:
                self._finish()
                self._enter("idle")
            return True
        if self._trace is not None and self._state == "trace":
            self._body(line)
        elif self._state == "title" and (found := _HEAD.match(line)):
            self._finish()
            self._head = (found.group("word"), found.group("name"))
        return True

    def _enter(self, state: str) -> None:
        self._state = state
        self.holding = state != "idle"

    def _idle(self, line: str) -> bool:
        if _DOUBLE.match(line):
            self._enter("ruled")
            return True
        if found := _RAN.match(line):
            self._ran = (self._ran or 0) + int(found.group(1))
            return True
        if found := _VERBOSE.match(line):
            self._status(found.group("name"), found.group("word"))
            return True
        if self._name and (found := _DESCRIBED.match(line)):
            self._status(self._name, found.group("word"))
            return True
        self._name = line if _STARTED.match(line) else None  # its docstring and status are on the next line
        self.holding = self._name is not None
        return False

    def _status(self, name: str, word: str) -> None:
        self._name = None
        self.holding = False
        if word == "ok" and len(self._passed) < MOST_IDS:
            self._passed.add(test_id(name))
        elif word.startswith("skipped") and len(self._skipped) < MOST_IDS:
            self._skipped.add(test_id(name))

    def _title(self, line: str) -> bool:
        found = _HEAD.match(line)
        if found is None:
            self._enter("idle")
            return False
        self._head = (found.group("word"), found.group("name"))
        self._enter("title")
        return True

    def _body(self, line: str) -> None:
        if line in ("Stdout:", "Stderr:"):
            self._captured = self._captured or []
        elif self._captured is not None:
            if len(self._captured) < 100:
                self._captured.append(line[:500])
        elif self._trace is not None:
            self._trace.feed(line)

    def _finish(self) -> None:
        head, trace = self._head, self._trace
        captured = "\n".join(self._captured).strip() if self._captured else None
        self._head = self._trace = self._captured = None
        if head is None:
            return
        if len(self._failures) >= MOST:
            self._dropped += 1
            return
        self._failures.append(_failure(head[0], head[1], trace or Trace(), captured))

    def found(self, exit_code: int | None) -> Found:
        """Every failure, in order."""
        self._finish()
        failed = {failure.id for failure in self._failures}
        return Found(
            findings=tuple(self._failures),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped),
            blocked="no tests ran" if self._ran == 0 and not self._failures else None,
            ended=self._ran is not None,
            dropped=self._dropped,
        )


def test_id(name: str) -> str:
    """`module.Class.test [msg] (k=v)` for `test (module.Class[.test]) [msg] (k=v)`; hooks stay as printed."""
    found = _NAME.match(name)
    if found is None or found.group("test") in _HOOKS:
        return name
    test, scope = found.group("test"), found.group("scope")
    full = scope if scope.endswith("." + test) else f"{scope}.{test}"
    return full + found.group("rest")


def _failure(word: str, name: str, trace: Trace, captured: str | None) -> Failure:
    test = test_id(name)
    message, rest = trace.exception()
    frames = [Frame(relative(f.file), f.line, f.name, f.source) for f in trace.frames]
    home = [frame for frame in frames if inside(frame.file)]
    own = _own(test, home)
    expected, actual = compared(message) if message else (None, None)
    return Failure(
        tool="unittest",
        id=test,
        kind=FailureKind.ERROR if word == "ERROR" else FailureKind.FAILED,
        file=own.file if own else None,
        line=own.line if own else None,
        crash=Location(file=frames[-1].file, line=frames[-1].line) if home and home[-1] is frames[-1] else None,
        frames=tuple(Location(file=f.file, line=f.line, name=f.name) for f in home[-12:]),
        exception=kind_of(message),
        source=own.source if own else None,
        assertion=message,
        message=message,
        expected=expected,
        actual=actual,
        detail="\n".join(rest).strip("\n")[:4000] or None,
        captured=captured,
        collection="_FailedTest" in test,
    )


def _own(test: str, home: list[Frame]) -> Frame | None:
    """The deepest frame in the test's own module."""
    if not home:
        return None
    if "_FailedTest" in test:
        return home[-1]
    parts = set(test.split("(")[-1 if test.startswith(_HOOKS) else 0].rstrip(")").split("."))
    mine = [frame for frame in home if frame.file.rsplit("/", 1)[-1].removesuffix(".py") in parts]
    return (mine or home)[-1 if mine else 0]
